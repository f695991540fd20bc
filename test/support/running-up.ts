// The whole program as users run it: `threadmux up` with its local workspace as a process, the command line, and the fake Claude Code as
// the agent of every session that is started.

import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { type Home, openHome } from '../../home/home.ts';
import { holderOf } from '../../home/lock.ts';
import { loadThreadRecords, type ThreadRecord } from '../../threads/registry.ts';
import { type Cli, type RunOptions, startCli, WAIT } from '../bin/cli.ts';
import { atEnd } from './at-end.ts';
import { FAKE_CLAUDE, type FakeClaude, standInAt } from './fake-claude.ts';
import { DROP, killNow } from './hook-process.ts';
import { ended, startUp } from './start-up.ts';
import { enter, type Person, type WireMessage } from './workspace.ts';

const HEADLESS = fileURLToPath(new URL('./headless-claude.mjs', import.meta.url));

export interface RunningUp {
  readonly cli: Cli;
  readonly home: Home;
  readonly project: string;
  readonly run: Cli['run'];
  readonly runHere: Cli['runHere'];
  person(): Person;
  /** The fake Claude Code in this session, once it has started. */
  claude(session: string): Promise<Pick<FakeClaude, 'noted' | 'prompts' | 'tell'>>;
  record(session: string): ThreadRecord;
  /** The environment of a program in the session's pane. */
  inside(session: string): { readonly TMUX: string; readonly TMUX_PANE: string };
  messages(session: string): Promise<readonly WireMessage[]>;
  /** The first message of the thread that fits. */
  message(session: string, pattern: RegExp): Promise<WireMessage>;
  tap(session: string, message: WireMessage, label: string): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function startRunningUp(config: Readonly<Record<string, unknown>> = {}): Promise<RunningUp> {
  const cli = startCli();
  const { dir, root } = cli;
  const project = join(dir, 'shop');
  mkdirSync(project);
  const command = join(dir, 'claude');
  const folderOf = (session: string) => join(dir, `fake-${session}`);
  // The name of its session says which one it is. Its arguments are for the real one.
  const headless = `case " $* " in *" -p "*) CLAUDE_FAKE_LOG="${dir}/headless.log" exec ${process.execPath} ${HEADLESS} "$@" ;; esac`;
  const script = `#!/bin/sh\n${headless}\nname=$(tmux display-message -p -t "$TMUX_PANE" '#S')\nmkdir -p "${dir}/fake-$name"\nexec ${process.execPath} ${FAKE_CLAUDE} "${dir}/fake-$name" ${DROP}\n`;
  writeFileSync(command, script, { mode: 0o755 });
  const file = { agents: { claude: { command: [command] } }, projects: [{ path: project }], ...config };
  writeFileSync(join(root, 'config.json'), JSON.stringify(file), { mode: 0o600 });
  const home = openHome(root);
  const env = { ...cli.env, THREADMUX_HOME: root };
  let up: { readonly child: ChildProcess; readonly person: Person } | undefined;

  async function start(): Promise<void> {
    const { process: child, link } = await startUp(env);
    up = { child, person: await enter(link) };
  }

  async function kill(): Promise<void> {
    const child = up?.child;
    up = undefined;
    if (child !== undefined) await ended(child, 'SIGKILL');
  }

  atEnd(async () => {
    spawnSync('tmux', ['-S', cli.tmux.socket, 'kill-server']);
    await kill();
    await vi.waitFor(() => {
      const courier = holderOf(home.path('state', 'courier.lock'));
      if (courier !== undefined) killNow(courier);
      expect(courier).toBe(undefined);
    }, WAIT);
  });
  await start();

  const inProject = (options: RunOptions = {}) => ({
    cwd: project,
    ...options,
    env: { THREADMUX_HOME: root, ...options.env },
  });
  const person = () => {
    if (up === undefined) throw new Error('threadmux is not running');
    return up.person;
  };
  const record = (session: string) => {
    const found = loadThreadRecords(home).find((one) => one.sessionName === session && !one.closed);
    if (found === undefined) throw new Error(`${session} has no thread`);
    return found;
  };
  const messages = async (session: string) => (await person().messages(record(session).thread)).toReversed();
  return {
    cli,
    home,
    project,
    person,
    record,
    messages,
    kill,
    start,
    run: (args, options) => cli.run(args, inProject(options)),
    runHere: (args, options) => cli.runHere(args, inProject(options)),
    async claude(session) {
      await vi.waitFor(() => expect(existsSync(join(folderOf(session), 'ready'))).toBe(true), WAIT);
      return standInAt(folderOf(session));
    },
    inside(session) {
      const format = '#{socket_path},#{pid},0 #{pane_id}';
      const [TMUX = '', TMUX_PANE = ''] = cli.tmux
        .call('display-message', '-p', '-t', `=${session}:`, format)
        .split(' ');
      return { TMUX, TMUX_PANE };
    },
    message: (session, pattern) =>
      vi.waitFor(async () => {
        const found = (await messages(session)).find(({ content }) => pattern.test(content));
        if (found === undefined) throw new Error(`nothing in ${session} fits ${pattern}`);
        return found;
      }, WAIT),
    async tap(session, message, label) {
      const buttons = message.components.flatMap(
        (row) => (row as { components: readonly { label?: string; custom_id: string }[] }).components,
      );
      const button = buttons.find((one) => one.label === label);
      if (button === undefined) throw new Error(`there is no ${label} among ${JSON.stringify(buttons)}`);
      await vi.waitFor(() => person().tap(record(session).thread, message.id, button.custom_id), WAIT);
    },
  };
}

/** Starts a session and waits until its agent has reported. */
export async function startAgent(up: RunningUp, name: string) {
  expect((await up.runHere(['start', name])).status).toBe(0);
  const claude = await up.claude(name);
  await vi.waitFor(() => expect(up.record(name).claudeSession).not.toBe(''), WAIT);
  return claude;
}
