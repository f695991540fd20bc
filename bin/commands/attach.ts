// threadmux attach and capture. attach runs tmux in this terminal, here or through ssh -t; inside the same tmux server it switches
// the client. capture prints what a pane shows, and says how many lines it left out.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Config } from '../../core/config.ts';
import { EXIT, ThreadmuxError } from '../../core/errors.ts';
import { quoteShellWords } from '../../core/shell-word.ts';
import { spelledOut } from '../../core/untrusted-text.ts';
import { lookForExit, withoutDeadLine } from '../../tmux/last-output.ts';
import type { LookResult } from '../../tmux/look.ts';
import { readTmuxVariable } from '../../tmux/pane.ts';
import { findTarget, openSessionFinder, paneOf, type SessionTarget } from '../find-session.ts';
import { printJson, printNote, printText, withProgress } from '../print.ts';

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
      hint: 'Run it in a terminal, or use `threadmux capture` to read and `threadmux send` to write.',
    });
  process.exitCode = await handOver(command);
}

/** Uses the session's id, because tmux also matches the beginning of a name. */
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
    throw new ThreadmuxError('tmux_not_installed', `${file} is not installed on this machine`, {
      cause,
      hint: `Install ${file} and try again.`,
    });
  });
  return file === 'ssh' && code === SSH_FAILED ? EXIT.unreachable : (code ?? EXIT.failed);
}

interface CaptureFlags {
  readonly host?: string;
  readonly json?: boolean;
  readonly lines?: number;
}

const MOST_LINES = 10_000;
const DEAD_PANE_LINES = 200;

export async function capture(name: string | undefined, flags: CaptureFlags): Promise<void> {
  const target = await findTarget(openSessionFinder(), name, flags.host);
  const { host, session } = target;
  const wanted = flags.lines === undefined ? undefined : Math.min(flags.lines, MOST_LINES);
  // When a program exits, tmux adds a line, and the last output may scroll out of the screen.
  const history = wanted ?? (session.pane.dead ? DEAD_PANE_LINES : 0);
  const seen = await withProgress(`reading ${session.name}`, lookAt(target, history));
  if (seen.kind === 'gone')
    throw new ThreadmuxError('session_not_found', `the pane of session ${session.name} is closed`, {
      hint: 'Run `threadmux sessions` to list the sessions.',
    });
  const older = Math.max(0, seen.historyLines - history);
  const text = seen.dead ? withoutDeadLine(seen.text) : seen.text;
  const clip = clipLines(text, older, wanted);
  if (flags.json)
    return printJson({
      host,
      name: session.name,
      text: clip.lines.join('\n'),
      lines: clip.lines.length,
      truncated: clip.omitted > 0,
      omittedLines: clip.omitted,
      dead: seen.dead,
      exitStatus: seen.exitStatus ?? null,
    });
  if (clip.omitted > 0) printText(truncationMark(clip.omitted));
  printText(withoutControls(clip.lines.join('\n')));
  if (seen.dead) printNote(`The program has exited with status ${seen.exitStatus ?? 'unknown'}.`);
}

/** The agent's pane; if it is closed, the session's active pane. */
async function lookAt(target: SessionTarget, history: number): Promise<LookResult> {
  const { tmux, record } = target;
  const seen = await lookForExit(tmux, paneOf(target), history);
  if (seen.kind !== 'gone' || record === undefined) return seen;
  return lookAt({ ...target, record: undefined }, history);
}

/** tmux prints none, but a hostile host may answer with sequences that set the clipboard or the title of this terminal. */
function withoutControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, spelledOut);
}

function truncationMark(omitted: number): string {
  return `[… ${omitted} earlier ${omitted === 1 ? 'line' : 'lines'} omitted]`;
}

/** The last lines, without empty lines at the end. `older` is the number of lines that were not read. */
function clipLines(
  text: string,
  older: number,
  wanted: number | undefined,
): { readonly lines: readonly string[]; readonly omitted: number } {
  const trimmed = text.trimEnd();
  const all = trimmed === '' ? [] : trimmed.split('\n').map((line) => line.trimEnd());
  const lines = wanted === undefined ? all : all.slice(-wanted);
  return { lines, omitted: older + all.length - lines.length };
}
