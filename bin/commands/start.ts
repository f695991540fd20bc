// threadmux start, stop, new and kill. start and stop can be repeated; new fails if the session exists, and kill if it does not.

import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { killSession } from '../../tmux/sessions.ts';
import { endSession } from '../acts/end-session.ts';
import { sessionData, withStates } from '../acts/list-sessions.ts';
import { submitFirst } from '../acts/send-and-wait.ts';
import { type StartedSession, type StartOptions, startNext, startOne } from '../acts/start-session.ts';
import { waitForReply } from '../acts/wait-session.ts';
import { findTarget, hostAndName, openSessionFinder, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { printable, printJson, printNote, printText, withProgress } from '../print.ts';
import { printWaited } from './wait.ts';

interface StartFlags extends StartOptions {
  readonly json?: boolean;
  readonly prompt?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** The pane stays open when its program exits, so that the caller can read its last output. */
export async function startSession(
  name: string | undefined,
  command: readonly string[],
  flags: StartFlags,
): Promise<void> {
  if (name !== undefined && flags.prefix !== undefined)
    throw new ThreadmuxError('bad_usage', 'use either a name or --prefix, not both');
  const finder = openSessionFinder();
  checkFlags(command, flags);
  const started = await begin(name, command, flags, finder);
  if (flags.prompt === undefined) return report(started, finder, flags);
  if (started.created && started.isShell) await failWithoutAgent(started, finder);
  await prompt(started, flags.prompt, finder, flags);
}

/** A shell would be started instead, and run the prompt as commands. */
async function failWithoutAgent({ host, session }: StartedSession, finder: SessionFinder): Promise<never> {
  await killSession(finder.hosts.tmux(host), session);
  throw new ThreadmuxError('not_found', `the agent is not installed on ${host}, so ${session.name} was not started`, {
    hint: 'Install it, or give its command in "agents" in config.json.',
  });
}

function checkFlags(command: readonly string[], flags: StartFlags): void {
  const wrong = (what: string) => new ThreadmuxError('bad_usage', what);
  if (flags.wait && flags.prompt === undefined) throw wrong('--wait needs --prompt; see also `threadmux wait`');
  if (flags.prompt?.trim() === '') throw wrong('the prompt is empty');
  if (command.length > 0 && flags.prompt !== undefined)
    throw wrong('--prompt is for the agent, not for a command after --');
}

async function begin(
  name: string | undefined,
  command: readonly string[],
  flags: StartFlags,
  finder: SessionFinder,
): Promise<StartedSession> {
  if (name === undefined) return startNext(finder, command, flags);
  const place = hostAndName(finder, name, flags.host);
  return startOne(finder, place, command, flags, true);
}

const TIMEOUT_SECONDS = 3_600;

/** Prints the reply, or only the name if nobody waits for it. */
async function prompt(started: StartedSession, text: string, finder: SessionFinder, flags: StartFlags): Promise<void> {
  const { host, session } = started;
  const target = { ...started, tmux: finder.hosts.tmux(host) };
  const timeoutMs = (flags.timeout ?? TIMEOUT_SECONDS) * 1_000;
  const sending = submitFirst(target, text, finder, timeoutMs);
  const { at } = await withProgress(`sending the prompt to ${session.name}`, sending);
  if (!flags.wait) return report(started, finder, flags);
  const waited = await withProgress(
    `waiting for ${session.name}`,
    waitForReply(target, finder, { timeoutMs, since: at }),
  );
  printWaited({ host, name: session.name, created: started.created }, waited, flags);
}

export async function createSession(name: string, command: readonly string[], flags: StartFlags): Promise<void> {
  const finder = openSessionFinder();
  const started = await startOne(finder, hostAndName(finder, name, flags.host), command, flags, false);
  if (!started.created)
    throw new ThreadmuxError('session_exists', `session ${name} already exists`, {
      hint: `Open it with: threadmux attach ${name}`,
    });
  await report(started, finder, flags);
}

export async function stopSession(name: string | undefined, flags: StartFlags): Promise<void> {
  const finder = openSessionFinder();
  try {
    const target = await findTarget(finder, name, flags.host);
    await end(target, finder, flags, 'stopped');
  } catch (error) {
    if (name === undefined || !isThreadmuxError(error, 'session_not_found')) throw error;
    const { session, host } = hostAndName(finder, name, flags.host);
    if (flags.json) printJson({ host, name: session, stopped: false });
    else printNote(`Session ${printable(session)} does not exist on ${host}: nothing to stop.`);
  }
}

export async function killByName(name: string, flags: StartFlags): Promise<void> {
  const finder = openSessionFinder();
  await end(await findTarget(finder, name, flags.host), finder, flags, 'killed');
}

async function end(
  target: SessionTarget,
  finder: SessionFinder,
  { json }: StartFlags,
  done: 'stopped' | 'killed',
): Promise<void> {
  await withProgress(`ending ${target.session.name}`, endSession(target, finder));
  const { host, session } = target;
  if (json) printJson({ host, name: session.name, [done]: true });
  else printNote(`Ended session ${printable(session.name)} on ${host}.`);
}

/** Prints only the name to stdout, for scripts that let us choose it. */
async function report(started: StartedSession, finder: SessionFinder, { json }: StartFlags): Promise<void> {
  const { host, session, created, isShell } = started;
  if (json) {
    const [found] = await withStates(host, [started], finder);
    const state = created && !isShell && found?.state.state === 'shell' ? { state: 'starting' as const } : found?.state;
    return printJson({ created, ...sessionData({ ...started, state: state ?? { state: 'ended' } }) });
  }
  printText(session.name);
  const what = isShell ? ' with a shell, because the agent is not installed there' : '';
  if (created) printNote(`Started session ${session.name} on ${host}${what}.`);
  else if (session.pane.dead)
    printNote(
      `Session ${session.name} exists, but its program has exited. Run \`threadmux capture ${session.name}\` to see its output.`,
    );
  else printNote(`Session ${session.name} already exists.`);
}
