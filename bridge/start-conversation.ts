// Starts the session that a message is for, if there is none: in a channel that talks to a session, and in a thread that a
// user created by hand and whose session never ran.

import { isThreadmuxError } from '../core/errors.ts';
import type { Project } from '../core/project.ts';
import { parseSessionName } from '../core/session-name.ts';
import { untrustedCode, untrustedHint, untrustedReason } from '../core/untrusted-text.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { rememberedSession } from '../threads/remembered-session.ts';
import { titleOf } from '../threads/session-pane.ts';
import { configuredNames, isNeverStarted, newName } from './adopted-name.ts';
import type { CommandContext } from './commands/command.ts';
import { beginSession } from './commands/new.ts';
import type { AttemptOutcome, WaitingAttempt } from './delivery-attempt.ts';
import type { AcceptedMessage } from './inbox.ts';

interface ConversationStart {
  /** The session, for people. */
  readonly about: string;
  /** `message`: the id of the message that waits for it. */
  begin(message: string): Promise<StartedSession | AttemptOutcome | WaitingAttempt>;
}

interface StartedSession {
  readonly kind: 'started';
  /** The declared prompt: it is typed before the message. */
  readonly first: AcceptedMessage | undefined;
}

interface Wanted {
  readonly name: string;
  readonly host: string;
  readonly project: Project;
}

const NAMES_TRIED = 20;

/** Undefined if messages start no session there. */
export function conversationStart(thread: ThreadRef, context: CommandContext): ConversationStart | undefined {
  const wanted = wantedIn(thread, context);
  if (wanted === undefined) return undefined;
  return {
    about: untrustedCode(wanted.name),
    begin: (message) =>
      start(thread, wanted, message, context).catch((error: unknown): AttemptOutcome | WaitingAttempt => {
        if (isThreadmuxError(error, 'host_unreachable'))
          return { kind: 'wait', because: untrustedReason(error), screen: undefined, surely: true, soon: false };
        context.log.info('starting a session for a message', { because: (error as Error).message });
        return { kind: 'failed', because: untrustedHint(error), screen: undefined };
      }),
  };
}

function wantedIn({ id }: ThreadRef, { threads }: CommandContext): Wanted | undefined {
  const talk = threads.talkIn(id);
  if (talk !== undefined) return { name: talk.session, host: talk.host, project: talk.project };
  const record = threads.registry.get(id);
  if (record === undefined || !isNeverStarted(record)) return undefined;
  const { sessionName: name, host } = record;
  const project = threads.destinationOf({ host, directory: record.project || record.cwd })?.project;
  return project && { name, host, project };
}

async function start(
  thread: ThreadRef,
  wanted: Wanted,
  message: string,
  context: CommandContext,
): Promise<StartedSession | AttemptOutcome> {
  const { registry, projects } = context.threads;
  const isTalk = thread.id === thread.parentId;
  const tried: string[] = [];
  for (let { name } = wanted; ; ) {
    const declared = context.declared.all();
    const place = declared.find((one) => one.name === name && one.host === wanted.host);
    const { begun, first } = place
      ? await context.declared.startFor(place, message)
      : { ...(await beginSession(sessionFor({ ...wanted, name }, context), context)), first: undefined };
    if (begun.is !== 'there') return { kind: 'started', first };
    const found = await context.panes.find(thread);
    if (found !== undefined) return { kind: 'started', first: undefined };
    tried.push(name);
    if (isTalk || tried.length > NAMES_TRIED) return refused(name);
    // Somebody else's session has the name.
    name = newName(wanted.name, wanted.host, registry.all(), [...tried, ...configuredNames(projects())]);
    const title = titleOf({ host: wanted.host, sessionName: name, group: undefined }, context.config);
    registry.change(thread.id, { sessionName: name, title });
  }
}

/** As the project says. */
function sessionFor({ name, host, project }: Wanted, { threads, server, config }: CommandContext) {
  const ours = threads.registry.all().filter((one) => one.server === server.name && one.closed && one.serverPid !== 0);
  return {
    name: parseSessionName(name),
    host,
    directory: project.path || '~',
    command: undefined,
    before: rememberedSession(ours, { name, host, defaultHost: config.defaultHost }),
  };
}

function refused(name: string): AttemptOutcome {
  const because = `A session ${untrustedCode(name)} runs, but it does not belong to this project. End it, or choose another name.`;
  return { kind: 'failed', because, screen: undefined };
}
