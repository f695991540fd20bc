// A second machine: reached by a real ssh, with a home, a tmux server and couriers of its own.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { openHome } from '../../home/home.ts';
import {
  type FakeClaude,
  type FakeOptions,
  type Place,
  startFakeClaude,
} from '../support/fake-claude.ts';
import { processesWith, useWorkspace } from '../support/hook-process.ts';
import { type SshServer, type SshServerOptions, startSshServer } from '../support/ssh-server.ts';
import { startTmux } from '../support/tmux-server.ts';
import { type Setting, type SettingOptions, startSetting } from './setting.ts';

export interface Far extends Setting {
  readonly ssh: SshServer;
  readonly place: Place;
  farClaude(session: string, options?: FakeOptions): Promise<FakeClaude>;
}

export interface FarOptions extends SettingOptions {
  readonly sshServer?: SshServerOptions;
  readonly before?: (ssh: SshServer) => Promise<unknown> | unknown;
}

export async function startFar({ sshServer, before, ...options }: FarOptions = {}): Promise<Far> {
  const ssh = await startSshServer(sshServer);
  const tmux = startTmux();
  const home = openHome(join(ssh.home, '.threadmux'));
  await before?.(ssh);
  const hosts = { far: { ssh: 'far', socket: tmux.socket } };
  const sshConfig = ssh.configFile;
  const setting = await startSetting({ file: { hosts }, sshConfig, ...options });
  useWorkspace(home, setting.workspace);
  const config = { host: 'far', defaultHost: 'laptop', hosts: { laptop: { ssh: 'laptop' } } };
  writeFileSync(home.path('config.json'), JSON.stringify(config), { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: ssh.home,
    LANG: 'C.UTF-8',
    THREADMUX_HOME: home.root,
  };
  onTestFinished(() =>
    vi.waitFor(
      () => {
        const left = processesWith(`THREADMUX_HOME=${home.root}`);
        for (const pid of left) spawnSync('kill', ['-9', String(pid)]);
        if (left.length > 0) throw new Error('something is still at work over there');
      },
      { timeout: 5_000 },
    ),
  );
  const place = { home, tmux, env };
  return Object.assign(Object.create(setting), {
    ssh,
    place,
    farClaude: (session: string, fake?: FakeOptions) => startFakeClaude(place, session, fake),
  });
}
