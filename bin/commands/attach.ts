// threadmux attach: hands the terminal over to tmux, here or through ssh -t. Inside tmux the client moves over instead.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Config } from '../../core/config.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-codes.ts';
import { quoteShellWords } from '../../core/shell-word.ts';
import { readTmuxVariable } from '../../tmux/pane.ts';
import { findTarget, openSessionFinder, type SessionTarget } from '../find-session.ts';
import { printJson } from '../print.ts';

interface AttachFlags {
  readonly host?: string;
  readonly json?: boolean;
}

const PLACES = '/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:/usr/bin:/bin';
const REMOTE = `PATH="$PATH:${PLACES}:$HOME/.local/bin"; export PATH; exec "$@"`;
const SSH_FAILED = 255;

export async function attach(name: string | undefined, flags: AttachFlags): Promise<void> {
  const { config, ...rest } = openSessionFinder();
  const target = await findTarget({ config, ...rest }, name, flags.host);
  const command = attachCommand(target, config.hosts[target.host], process.env.TMUX);
  if (flags.json) return printJson({ host: target.host, name: target.session.name, command });
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new ThreadmuxError('bad_usage', 'attach needs a terminal', {
      hint: 'Run it in one, or use `threadmux capture` to read and `threadmux send` to write.',
    });
  process.exitCode = await handOver(command);
}

/** By id: a name could be the beginning of another's. */
function attachCommand(
  { tmux, session }: Pick<SessionTarget, 'tmux' | 'session'>,
  host: Config['hosts'][string] | undefined,
  inside: string | undefined,
): readonly string[] {
  const socket = tmux.socket === undefined ? [] : ['-S', tmux.socket];
  const call = [tmux.host.tmux, '-u', ...socket];
  const there = [...call, 'attach-session', '-t', session.id];
  if (typeof host === 'object')
    return ['ssh', '-t', '--', host.ssh, `exec sh -c ${quoteShellWords([REMOTE, 'sh', ...there])}`];
  const isSameServer = readTmuxVariable(inside ?? '')?.pid === session.serverPid;
  return isSameServer ? [...call, 'switch-client', '-t', session.id] : there;
}

async function handOver([file = '', ...args]: readonly string[]): Promise<number> {
  const { TMUX, TMUX_PANE, DISCORD_BOT_TOKEN, ...env } = process.env;
  const moving = args.includes('switch-client') ? { TMUX, TMUX_PANE } : {};
  const child = spawn(file, args, {
    stdio: 'inherit',
    env: { ...env, ...moving, PATH: `${env.PATH ?? ''}:${PLACES}` },
  });
  const [code] = await once(child, 'exit').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new ThreadmuxError('tmux_not_installed', `${file} was not found on this machine`, {
      cause,
      hint: `Install ${file} and try again.`,
    });
  });
  return file === 'ssh' && code === SSH_FAILED ? EXIT.unreachable : (code ?? EXIT.failed);
}
