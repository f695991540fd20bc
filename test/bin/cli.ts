// The compiled program, run as a user or another program does, with its own home, tmux server and environment.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { NO_SYNC } from '../support/hook-process.ts';
import { startTmux, type TmuxServer } from '../support/tmux-server.ts';

export const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));

/** Every attempt starts a process. */
export const WAIT = { timeout: 20_000, interval: 50 } as const;

interface Result {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** stdout, parsed as JSON. */
  readonly data: () => Record<string, unknown>;
  /** stderr, parsed as JSON. */
  readonly error: () => { readonly code: string; readonly message: string; readonly hint: unknown };
}

export interface Cli {
  readonly tmux: TmuxServer;
  /** The user's home, which contains ours. */
  readonly dir: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Result>;
}

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export function startCli(config?: unknown): Cli {
  const tmux = startTmux();
  const dir = join(tmux.dir, 'person');
  const root = join(dir, '.threadmux');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  if (config !== undefined) writeFileSync(join(root, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: dir,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    ...NO_SYNC,
    THREADMUX_HOST: 'here',
    THREADMUX_TMUX_SOCKET: tmux.socket,
  };
  return { tmux, dir, root, env, run: (args, options = {}) => run(env, dir, args, options) };
}

/** Not spawnSync: the program may talk to a server in this process. */
async function run(
  env: Readonly<Record<string, string>>,
  cwd: string,
  args: readonly string[],
  options: RunOptions,
): Promise<Result> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: options.cwd ?? cwd,
    env: { ...env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(options.input ?? '');
  const [stdout, stderr, [status]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'exit'),
  ]);
  return {
    status,
    stdout,
    stderr,
    data: () => JSON.parse(stdout),
    error: () => JSON.parse(stderr).error,
  };
}

/** A folder for the front of PATH, with a program of this name in it. */
export function binWith(dir: string, name: string, script: string): string {
  const folder = join(dir, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}
