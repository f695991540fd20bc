// The home, configuration and log that every command starts with.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Config, ConfigEnvironment, ServerConfig } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { onDiskFailure } from '../home/atomic-write.ts';
import { loadConfig, loadLocalServer, saveEnvironment, withSavedEnvironment } from '../home/config-file.ts';
import { type Home, homeRoot, openHome } from '../home/home.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import { openLogFile } from '../home/log-file.ts';

export interface CliContext {
  readonly home: Home;
  readonly config: Config;
  /** The configured servers; otherwise the local workspace, if it has run before. */
  readonly servers: readonly ServerConfig[];
  readonly log: Log;
  readonly env: ConfigEnvironment;
}

export function openContext(who: string, also?: (line: string) => void): CliContext {
  return openContextOf(openHome(homeRoot(process.env)), process.env, who, also);
}

/** For processes that Claude Code starts: their environment may lack variables that the bridge has. */
export function openHookContext(who: string, token = ''): CliContext {
  const home = openHome(homeRoot(process.env));
  const env = token === '' ? process.env : { ...process.env, DISCORD_BOT_TOKEN: token };
  return openContextOf(home, withSavedEnvironment(home, env), who);
}

function openContextOf(home: Home, env: ConfigEnvironment, who: string, also?: (line: string) => void): CliContext {
  const config = loadConfig(home, env);
  const local = config.servers.length === 0 ? loadLocalServer(home, config) : undefined;
  const servers = local === undefined ? config.servers : [local];
  const secrets = servers.map(({ token }) => token);
  const log = openLogFile(home, who, also === undefined ? { secrets } : { secrets, also });
  onDiskFailure(({ kind, isOver, words }) => log[isOver ? 'info' : 'warn'](kind, { words }));
  return { home, config, servers, log, env };
}

// A process cannot erase the environment that it was started with, and every program of the same user can read it. So a
// long-running command that finds a token in its environment continues in a process that never had it there.

/** Tells the new process that the token is in the saved environment. */
const RESTARTED = 'THREADMUX_TOLD';

/** The context of a long-running command; undefined if a new process has done the work and ended. */
export async function openLasting(who: string, also?: (line: string) => void): Promise<CliContext | undefined> {
  if (process.env[RESTARTED] !== undefined) {
    delete process.env[RESTARTED];
    endWithParent();
    const home = openHome(homeRoot(process.env));
    return openContextOf(home, withSavedEnvironment(home, process.env), who, also);
  }
  const context = openContext(who, also);
  if (!process.env.DISCORD_BOT_TOKEN) return context;
  const release = onlyOne(context.home);
  // The hooks read it there too. Only the user can read the file.
  saveEnvironment(context.home, process.env);
  release();
  await startAgain();
  return undefined;
}

/** Two bridges with one home would type every message twice. */
export function onlyOne(home: Home): () => void {
  const path = join(home.folder('state'), 'bridge.lock');
  const release = tryLock(path);
  if (release !== undefined) return release;
  throw new ThreadmuxError('busy', `threadmux is already running with this home (process ${holderOf(path)})`, {
    hint: 'Stop it first, or set THREADMUX_HOME to another folder.',
  });
}

type Execve = (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => never;

async function startAgain(): Promise<void> {
  const { DISCORD_BOT_TOKEN: _, ...rest } = process.env;
  const env = { ...rest, [RESTARTED]: '1' };
  const args = [...process.execArgv, ...process.argv.slice(1)];
  const { execve } = process as { execve?: Execve };
  if (execve !== undefined) return execve.call(process, process.execPath, [process.execPath, ...args], env);
  // Older versions of Node.js have no execve: this process waits for the new one and passes signals on.
  const child = spawn(process.execPath, args, { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  // A terminal sends SIGINT to both processes; the child handles only the first signal.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill('SIGTERM'));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...how) => resolve(how));
  });
  process.exitCode = code ?? (signal === null ? 1 : 143);
}

/** If the waiting parent is killed, it can no longer pass signals on: the child ends too. */
function endWithParent(): void {
  if (process.channel === undefined) return;
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}
