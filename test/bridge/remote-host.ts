// A second machine over a real ssh, with its own home and tmux server. Its `node` fails and records the call.

import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { openHome } from '../../home/home.ts';
import { toSessionPane } from '../../threads/panes.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { atEnd } from '../support/at-end.ts';
import { FAKE_CLAUDE, type FakeClaude, type FakeOptions, type Place, startFakeClaude } from '../support/fake-claude.ts';
import { type Machine, paneEnv } from '../support/hook-process.ts';
import { type HookProcess, type PromptPane, startHook, startPromptPane } from '../support/prompt-pane.ts';
import { type SshServer, type SshServerOptions, startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTmux, type TmuxServer } from '../support/tmux-server.ts';
import { type Setting, type SettingOptions, startSetting, WAIT } from './bridge-setup.ts';

export interface FarHost {
  readonly name: string;
  readonly ssh: SshServer;
  readonly place: Place;
  /** What the bridge named `laptop` has put there. */
  readonly ours: string;
}

export interface Far extends Setting, FarHost {
  /** A fake Claude Code without hooks. */
  farClaude(session: string, options?: FakeOptions): Promise<FakeClaude>;
}

export interface FarOptions extends SettingOptions {
  readonly sshServer?: SshServerOptions;
  /** The directories where terminals may be started. */
  readonly roots?: readonly string[];
  /** The path of tmux on the hosts. */
  readonly tmux?: string;
  readonly before?: (ssh: SshServer) => Promise<unknown> | unknown;
  /** More hosts that are already running. */
  readonly others?: readonly FarHost[];
}

export async function startFarHost(name: string, options: SshServerOptions = {}): Promise<FarHost> {
  const bin = tempFolder();
  const path = options.path ?? `${bin}:/usr/bin:/bin`;
  writeFileSync(join(bin, 'node'), `#!/bin/sh\n: > ${bin}/was-run; exit 127\n`, { mode: 0o755 });
  const ssh = await startSshServer({ ...options, path, name });
  const tmux = startTmux();
  const home = openHome(join(ssh.home, '.threadmux'));
  atEnd(() => expect(existsSync(join(bin, 'was-run')), 'Node.js was started there').toBe(false));
  const env = { PATH: path, HOME: ssh.home, LANG: 'C.UTF-8', THREADMUX_HOME: home.root };
  return { name, ssh, place: { home, tmux, env }, ours: home.path('for', 'laptop') };
}

export async function startFar(given: FarOptions = {}): Promise<Far> {
  const { sshServer, before, others = [], roots = [], tmux, file, ...options } = given;
  const host = await startFarHost('far', sshServer);
  const { ssh, place } = host;
  await before?.(ssh);
  for (const other of others) appendFileSync(ssh.configFile, readFileSync(other.ssh.configFile));
  const hosts = Object.fromEntries(
    [host, ...others].map((one) => [one.name, { ssh: one.name, socket: one.place.tmux.socket, roots, tmux }]),
  );
  const sshConfig = ssh.configFile;
  const setting = await startSetting({ file: { hosts, ...file }, sshConfig, ...options });
  return Object.assign(Object.create(setting), {
    ...host,
    farClaude: (session: string, fake?: FakeOptions) =>
      startFakeClaude({ ...place, home: setting.machine.home }, session, {
        hooks: false,
        announce: () => announce(setting, place.tmux, session),
        ...fake,
      }),
  });
}

/** A fake Claude Code on the host, whose hooks are the scripts that the bridge has put there. */
export async function farWithHooks(
  setting: Pick<Setting, 'machine'>,
  host: FarHost,
  session: string,
  options: FakeOptions = {},
): Promise<FakeClaude> {
  const hooks = await script(host, 'drop');
  const place = { ...host.place, env: envOf(host), home: setting.machine.home };
  return startFakeClaude(place, session, { hooks, ...options });
}

/** A program for `!new` on that host: a fake Claude Code that reports to the scripts there. */
export function farAgent({ ours }: FarHost): { readonly program: string; readonly folder: string } {
  const folder = tempFolder();
  const program = join(folder, 'agent');
  const words = `'${process.execPath}' '${FAKE_CLAUDE}' '${folder}' '${ours}/bin/drop'`;
  const script = `#!/bin/sh\nrm -f ${folder}/control; printf '%s\\n' "$@" > ${folder}/args\nexport THREADMUX_HOME=${ours}\nexec ${words}\n`;
  writeFileSync(program, script, { mode: 0o755 });
  return { program, folder };
}

/** A pane on the host that shows recorded dialogs. */
export async function farPromptPane(setting: Setting, host: FarHost, session = 'web'): Promise<PromptPane> {
  const drop = await script(host, 'drop');
  const machine: Machine = {
    ...setting.machine,
    tmux: host.place.tmux,
    env: envOf(host),
    paneEnv: (target) => paneEnv(host.place.tmux, target),
  };
  const report = (env: object, input: object) =>
    spawnSync(drop, { input: JSON.stringify(input), env: { ...envOf(host), ...env } });
  return startPromptPane(machine, session, { report });
}

export function farHook(host: FarHost, pane: PromptPane, input: unknown): HookProcess {
  return startHook({ env: envOf(host) }, pane, input, {}, join(host.ours, 'bin', 'ask'));
}

const envOf = (host: FarHost) => ({ ...host.place.env, THREADMUX_HOME: host.ours });

async function script({ ours }: FarHost, name: string): Promise<string> {
  const path = join(ours, 'bin', name);
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), WAIT);
  return path;
}

/** Does what `threadmux thread open` does, but asks tmux directly, because ssh may be down. */
async function announce(setting: Setting, tmux: TmuxServer, session: string): Promise<void> {
  const found = (await listSessions(tmux.tmux)).find(({ name }) => name === session);
  if (found === undefined) throw new Error(`there is no session ${session}`);
  const socket = tmux.call('display-message', '-p', '#{socket_path}');
  const pane = toSessionPane('far', socket, found);
  await setting.shared.threads.ensure(pane, { directory: pane.path });
}
