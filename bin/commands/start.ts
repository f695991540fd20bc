// threadmux start, stop, new and kill. start and stop may be repeated and say the same again; new and kill insist.

import { resolve } from 'node:path';
import { agentCommandOn } from '../../bridge/commands/command.ts';
import type { FoundSessions } from '../../bridge/commands/sessions.ts';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import { killSession, listSessions, newSession } from '../../tmux/sessions.ts';
import { agentSettings } from '../agent-settings.ts';
import { findTarget, hostAndName, openSessionFinder, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { printable, printJson, printNote, printText, withProgress } from '../print.ts';
import { sessionData } from './sessions.ts';

interface StartFlags {
  readonly host?: string;
  readonly dir?: string;
  readonly prefix?: string;
  readonly json?: boolean;
}

type Started = FoundSessions & { readonly created: boolean; readonly isShell: boolean };

const PREFIX = 'agent';
const TRIES = 20;

/** The pane stays when its program ends, so that whoever started it can read its last words. */
export async function startSession(
  name: string | undefined,
  command: readonly string[],
  flags: StartFlags,
): Promise<void> {
  if (name !== undefined && flags.prefix !== undefined)
    throw new ThreadmuxError('bad_usage', 'a name and --prefix exclude each other');
  const reach = openSessionFinder();
  const started =
    name === undefined
      ? await startNext(reach, command, flags)
      : await startOne(reach, hostAndName(reach, name, flags.host), command, flags, true);
  report(started, flags);
}

export async function createSession(name: string, command: readonly string[], flags: StartFlags): Promise<void> {
  const reach = openSessionFinder();
  const started = await startOne(reach, hostAndName(reach, name, flags.host), command, flags, false);
  if (!started.created)
    throw new ThreadmuxError('session_exists', `session ${name} is there already`, {
      hint: `Go to it with: threadmux attach ${name}`,
    });
  report(started, flags);
}

export async function stopSession(name: string | undefined, flags: StartFlags): Promise<void> {
  const reach = openSessionFinder();
  try {
    const target = await findTarget(reach, name, flags.host);
    await end(target, flags, 'stopped');
  } catch (error) {
    if (name === undefined || !isThreadmuxError(error, 'session_not_found')) throw error;
    const { session, host } = hostAndName(reach, name, flags.host);
    if (flags.json) printJson({ host, name: session, stopped: false });
    else printNote(`There is no session ${printable(session)} on ${host}: nothing to stop.`);
  }
}

export async function killByName(name: string, flags: StartFlags): Promise<void> {
  await end(await findTarget(openSessionFinder(), name, flags.host), flags, 'killed');
}

async function end(
  { host, tmux, session }: SessionTarget,
  { json }: StartFlags,
  done: 'stopped' | 'killed',
): Promise<void> {
  await withProgress(`ending ${session.name}`, killSession(tmux, session));
  if (json) printJson({ host, name: session.name, [done]: true });
  else printNote(`Session ${printable(session.name)} on ${host} was ended.`);
}

/** Another program may take the same name in the same moment: then the next one is tried. */
async function startNext(reach: SessionFinder, command: readonly string[], flags: StartFlags): Promise<Started> {
  const { prefix = PREFIX, host = reach.config.defaultHost } = flags;
  const all = await withProgress(`asking ${host}`, listSessions(reach.hosts.tmux(host)));
  const first = nextIndex(
    prefix,
    all.map(({ name }) => name),
  );
  for (let index = first; index < first + TRIES; index++) {
    const place = { session: `${prefix}-${index}`, host };
    const started = await startOne(reach, place, command, flags, true);
    if (started.created) return started;
  }
  throw new ThreadmuxError('busy', `others take every name that begins with ${prefix}-`, {
    hint: 'Try again, or give the session a name.',
  });
}

/** One more than the highest there is; gaps are not filled, so that a name is not used again while others remember it. */
function nextIndex(prefix: string, names: readonly string[]): number {
  const taken = names.flatMap((name) => {
    const index = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : '';
    return /^\d{1,9}$/.test(index) ? [Number(index)] : [];
  });
  return Math.max(0, ...taken) + 1;
}

async function startOne(
  reach: SessionFinder,
  place: { readonly session: string; readonly host: string },
  words: readonly string[],
  flags: StartFlags,
  remainOnExit: boolean,
): Promise<Started> {
  const { host } = place;
  const name: SessionName = parseSessionName(place.session);
  const isLocal = reach.hosts.isLocal(host);
  const directory = isLocal && !flags.dir?.startsWith('~') ? resolve(flags.dir ?? '.') : flags.dir;
  const given = words.length > 0 ? words : undefined;
  const agent = await withProgress(
    `looking for the agent on ${host}`,
    agentCommandOn({ host, command: given }, { ...reach, agentSettings: agentSettings(reach.home) }),
  );
  const command = agent ?? given;
  const { session, created } = await withProgress(
    `starting ${name} on ${host}`,
    newSession(reach.hosts.tmux(host), {
      name,
      remainOnExit,
      ...(directory === undefined ? {} : { directory }),
      ...(command === undefined ? {} : { command }),
    }),
  );
  return { host, session, created, record: undefined, isShell: command === undefined };
}

/** The name alone on stdout: a script that let us choose it needs nothing else. */
function report(started: Started, { json }: StartFlags): void {
  const { host, session, created, isShell } = started;
  if (json) return printJson({ created, ...sessionData(started) });
  printText(session.name);
  const what = isShell ? ' as a shell: the agent was not found there' : '';
  if (created) printNote(`Session ${session.name} was started on ${host}${what}.`);
  else if (session.pane.dead)
    printNote(`Session ${session.name} is there, but its program has ended: threadmux capture shows its last words.`);
  else printNote(`Session ${session.name} is there already.`);
}
