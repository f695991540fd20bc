// threadmux attach and capture. attach runs tmux in this terminal, here or through ssh -t; inside the same tmux server it switches
// the client. capture prints what a pane shows, and says how many lines it left out.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Config } from '../../core/config.ts';
import { EXIT, ThreadmuxError } from '../../core/errors.ts';
import { ownValue } from '../../core/own-value.ts';
import { quoteShellWords } from '../../core/shell-word.ts';
import { insideFence, neutralise } from '../../core/untrusted-text.ts';
import { NO_TMUX } from '../../hosts/host-errors.ts';
import { socketOf, toSessionPane } from '../../threads/panes.ts';
import { readTmuxVariable } from '../../tmux/pane.ts';
import { asScript } from '../../tmux/tmux.ts';
import { postInThread } from '../acts/own-thread.ts';
import { readScreenLines } from '../acts/read-screen.ts';
import type { SessionFlags } from '../command-line.ts';
import { findTarget, openSessionFinder, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { printForeignText, printJson, printNote, printText, withProgress } from '../print.ts';

const SSH_FAILED = 255;

export async function attach(name: string | undefined, flags: SessionFlags): Promise<void> {
  const { config, ...rest } = openSessionFinder();
  const target = await findTarget({ config, ...rest }, name, flags.host);
  const { host, session } = target;
  const { shown, checked } = attachCommands(target, ownValue(config.hosts, host), process.env.TMUX);
  if (flags.json) return printJson({ host, name: session.name, command: shown });
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new ThreadmuxError('bad_usage', 'attach needs a terminal', {
      hint: 'Run it in a terminal, or use `threadmux capture` to read and `threadmux send` to write.',
    });
  process.exitCode = await handOver(checked, host);
}

interface AttachCommands {
  /** For a user who runs it. */
  readonly shown: readonly string[];
  /** The same, if the server still belongs to the user: another one may have taken its path meanwhile. */
  readonly checked: readonly string[];
}

/** Uses the session's id, because tmux also matches the beginning of a name. */
function attachCommands(
  { tmux, session }: Pick<SessionTarget, 'tmux' | 'session'>,
  host: Config['hosts'][string] | undefined,
  inside: string | undefined,
): AttachCommands {
  const isFar = typeof host === 'object';
  const isSameServer = !isFar && readTmuxVariable(inside ?? '')?.pid === session.serverPid;
  const words = [isSameServer ? 'switch-client' : 'attach-session', '-t', session.id];
  const [script, ...args] = asScript(tmux, 't "$@"', ...words);
  const checked = ['sh', '-c', script, 'sh', ...args];
  if (isFar) {
    const through = ['ssh', '-t', '--', host.ssh, `exec ${quoteShellWords(checked)}`];
    return { shown: through, checked: through };
  }
  const socket = tmux.socket === undefined ? [] : ['-S', tmux.socket];
  return { shown: [tmux.host.tmux, '-u', ...socket, ...words], checked };
}

async function handOver([file = '', ...args]: readonly string[], host: string): Promise<number> {
  const { DISCORD_BOT_TOKEN, ...env } = process.env;
  const child = spawn(file, args, { stdio: 'inherit', env });
  const [code] = await once(child, 'exit').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw notInstalled(file, 'this machine');
  });
  if (code === NO_TMUX) throw notInstalled('tmux', host);
  return file === 'ssh' && code === SSH_FAILED ? EXIT.unreachable : (code ?? EXIT.failed);
}

function notInstalled(program: string, where: string): ThreadmuxError {
  return new ThreadmuxError('tmux_not_installed', `${program} is not installed on ${where}`, {
    hint: `Install ${program} and try again.`,
  });
}

interface CaptureFlags extends SessionFlags {
  readonly lines: number;
  readonly post?: boolean;
}

export async function capture(name: string | undefined, flags: CaptureFlags): Promise<void> {
  const finder = openSessionFinder();
  const target = await findTarget(finder, name, flags.host);
  const { host, session } = target;
  const { text, ...screen } = await withProgress(`reading ${session.name}`, readScreenLines(target, flags.lines));
  const posted = flags.post ? { thread: await postScreen(target, text, finder) } : {};
  if (flags.json) return printJson({ host, name: session.name, text, ...screen, ...posted });
  if (flags.post) return printNote(`Posted ${screen.lines} lines into the thread of ${session.name}.`);
  if (screen.truncated) printText(truncationMark(screen.omittedLines));
  printForeignText(text);
  if (screen.dead) printNote(`The program has exited with status ${screen.exitStatus ?? 'unknown'}.`);
}

/** Longer texts are attached as a file. */
const FITS = 1_800;

async function postScreen(target: SessionTarget, text: string, finder: SessionFinder): Promise<string> {
  const { host, session, record } = target;
  const socket = record?.socket ?? (await socketOf(finder.hosts, host)) ?? '';
  const shown = neutralise(text);
  const say =
    shown.length <= FITS
      ? { text: shown === '' ? 'The screen is empty.' : insideFence(shown) }
      : { text: '', attached: { name: 'screen.txt', text: shown } };
  const posting = postInThread(toSessionPane(host, socket, session), { ...say, silent: true }, finder.home);
  return withProgress('posting', posting);
}

function truncationMark(omitted: number): string {
  return `[… ${omitted} earlier ${omitted === 1 ? 'line' : 'lines'} omitted]`;
}
