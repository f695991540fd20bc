// A second machine: reached by a real ssh, with a home and a tmux server of its own. No hook reports from there.

import { join } from 'node:path';
import { openHome } from '../../home/home.ts';
import { toSessionPane } from '../../threads/session-panes.ts';
import { listSessions } from '../../tmux/sessions.ts';
import {
  type FakeClaude,
  type FakeOptions,
  type Place,
  startFakeClaude,
} from '../support/fake-claude.ts';
import { type SshServer, type SshServerOptions, startSshServer } from '../support/ssh-server.ts';
import { startTmux, type TmuxServer } from '../support/tmux-server.ts';
import { type Setting, type SettingOptions, startSetting } from './setting.ts';

export interface Far extends Setting {
  readonly ssh: SshServer;
  readonly place: Place;
  farClaude(session: string, options?: FakeOptions): Promise<FakeClaude>;
}

export interface FarOptions extends SettingOptions {
  readonly sshServer?: SshServerOptions;
  /** Where terminals may be started there. */
  readonly roots?: readonly string[];
  readonly before?: (ssh: SshServer) => Promise<unknown> | unknown;
}

export async function startFar({
  sshServer,
  before,
  roots,
  ...options
}: FarOptions = {}): Promise<Far> {
  const ssh = await startSshServer(sshServer);
  const tmux = startTmux();
  const home = openHome(join(ssh.home, '.threadmux'));
  await before?.(ssh);
  const hosts = { far: { ssh: 'far', socket: tmux.socket, roots: roots ?? [] } };
  const sshConfig = ssh.configFile;
  const setting = await startSetting({ file: { hosts }, sshConfig, ...options });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: ssh.home,
    LANG: 'C.UTF-8',
    THREADMUX_HOME: home.root,
  };
  const place = { home, tmux, env };
  return Object.assign(Object.create(setting), {
    ssh,
    place,
    farClaude: (session: string, fake?: FakeOptions) =>
      startFakeClaude({ ...place, home: setting.machine.home }, session, {
        hooks: false,
        announce: () => announce(setting, tmux, session),
        ...fake,
      }),
  });
}

/** As `threadmux thread open` does it; asked of tmux directly, because ssh may be down. */
async function announce(setting: Setting, tmux: TmuxServer, session: string): Promise<void> {
  const found = (await listSessions(tmux.tmux)).find(({ name }) => name === session);
  if (found === undefined) throw new Error(`there is no session ${session}`);
  const socket = tmux.call('display-message', '-p', '#{socket_path}');
  const pane = toSessionPane('far', socket, found);
  await setting.shared.threads.ensure(pane, { directory: pane.path });
}
