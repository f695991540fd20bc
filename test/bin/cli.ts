// The compiled program, run as a user or another program does, with its own home, tmux server and environment.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { carryOut } from '../../bin/run-command-line.ts';
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
  /**
   * The same in this process, one command at a time: for what needs no process or terminal of its own, starts no courier, and waits for
   * nothing that the test does meanwhile.
   */
  readonly runHere: Cli['run'];
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
  return {
    tmux,
    dir,
    root,
    env,
    run: (args, options = {}) => run({ ...env, ...options.env }, options.cwd ?? dir, args, options.input),
    runHere: (args, options = {}) => runHere({ ...env, ...options.env }, options.cwd ?? dir, args, options.input),
  };
}

/** Not spawnSync: the program may talk to a server in this process. */
async function run(
  env: Readonly<Record<string, string>>,
  cwd: string,
  args: readonly string[],
  input = '',
): Promise<Result> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const [stdout, stderr, [status]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
    once(child, 'exit'),
  ]);
  return resultOf(status, stdout, stderr);
}

function resultOf(status: number | null, stdout: string, stderr: string): Result {
  return { status, stdout, stderr, data: () => JSON.parse(stdout), error: () => JSON.parse(stderr).error };
}

let before: Promise<unknown> = Promise.resolve();

/** The environment, the directory and the output belong to the whole process: the next command waits for this one. */
function runHere(...how: Parameters<typeof carryOutAs>): Promise<Result> {
  const mine = before.then(() => carryOutAs(...how));
  before = mine.catch(() => {});
  return mine;
}

async function carryOutAs(
  env: Readonly<Record<string, string>>,
  cwd: string,
  args: readonly string[],
  input = '',
): Promise<Result> {
  const { argv, stdout, stderr } = process;
  const kept = { env: { ...process.env }, cwd: process.cwd(), out: stdout.write, err: stderr.write };
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  const printed = { stdout: '', stderr: '' };
  Object.defineProperty(process, 'stdin', { ...stdin, get: () => Readable.from(input === '' ? [] : [input]) });
  process.argv = [process.execPath, PROGRAM, ...args];
  setEnvironment(env);
  process.chdir(cwd);
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (chunk: string | Uint8Array) => {
      printed[name] += chunk;
      return true;
    };
  try {
    const status = (await carryOut()) ?? Number(process.exitCode ?? 0);
    return resultOf(status, printed.stdout, printed.stderr);
  } finally {
    Object.assign(stdout, { write: kept.out });
    Object.assign(stderr, { write: kept.err });
    Object.defineProperty(process, 'stdin', stdin);
    process.argv = argv;
    process.exitCode = undefined;
    process.chdir(kept.cwd);
    setEnvironment(kept.env);
  }
}

/** The variables of the process itself: programs that are started inherit them. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** A folder for the front of PATH, with a program of this name in it. */
export function binWith(dir: string, name: string, script: string): string {
  const folder = join(dir, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}
