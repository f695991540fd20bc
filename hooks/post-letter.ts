// Journey 1: a letter from a hook becomes messages in its session's thread.
// The letter counts as delivered only when `deliver` has returned.

import type { AgentEvent, AgentEventName, AskedEvent, EventOf } from '../agents/event.ts';
import { driverOf } from '../agents/list.ts';
import { isShell } from '../agents/shell-name.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { afterTurn } from '../threads/limit-record.ts';
import { sessionKey, type ThreadRecord } from '../threads/registry.ts';
import { noteReportedReply } from '../threads/reported-reply.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { readTmuxVariable } from '../tmux/pane.ts';
import type { CourierContext } from './courier-context.ts';
import {
  type EventHandlerOf,
  type EventOutcome,
  type EventReport,
  handleEnded,
  handleFailed,
  handleNotice,
  handleResolved,
  handleSaid,
  handleStarted,
  handleSubmitted,
  handleTool,
  handleWaiting,
  turnKey,
} from './events.ts';
import { handleIdle } from './idle.ts';
import type { Letter } from './letter.ts';
import { post, postTextsBefore } from './post-texts.ts';

/** Waits for `risky` before it processes the letter's text. */
export async function postLetter(letter: Letter, context: CourierContext, risky = async () => {}): Promise<void> {
  const { event } = letter;
  await risky();
  if (event.event === 'asked') return ask(letter, event, context);
  if (isNested(letter)) return;
  const report = await reportOf(letter, context);
  if (report === undefined) return;
  const { thread } = report;
  const outcome = await handle(event, report);
  if (outcome.say !== undefined) {
    const { say, id = letter.id } = outcome;
    await risky();
    await context.inTurn(thread.thread, () => post(report, id, letter.writtenAt, say));
    // If the session was renamed while the thread was archived, rename the thread now that it is open.
    if (thread.archived !== 'no')
      await context.threads.ensure(report.session, { directory: report.directory, shell: 'no' });
  }
  await outcome.after?.();
  // Before the state: a program that waits for the state reads the reply next.
  if (report.driver.turns === undefined) noteReportedReply(context.home, thread.thread, event, letter.writtenAt);
  record(report, outcome);
}

/** What the agent was doing when its session was ended is no longer shown as work. */
async function endTurnOf(session: SessionPane, { pane }: Letter, { threads, progress }: CourierContext): Promise<void> {
  const closed = threads.registry
    .all()
    .find((one) => one.host === session.host && sessionKey(one) === sessionKey(session));
  const rest = closed && threads.connections.named(closed.server)?.rest;
  if (closed !== undefined && rest !== undefined) await progress.end(turnKey(closed.thread, pane), rest, 'interrupted');
}

/** Nothing is posted for these. */
function isQuiet({ event, message }: AgentEvent): boolean {
  return ['submitted', 'tool', 'resolved'].includes(event) || (event === 'waiting' && message === undefined);
}

/** Undefined if the session is gone or gets no thread. */
async function reportOf(letter: Letter, context: CourierContext): Promise<EventReport | undefined> {
  const { event, pane } = letter;
  const begins = event.event === 'started';
  const session = await context.sessionOf(letter.tmux, pane, begins);
  const isEnd = event.event === 'ended';
  if (session === undefined) {
    if (!isEnd) giveUpOn(letter, context);
    return undefined;
  }
  const directory = letter.project || event.cwd;
  // A thread that a user deleted is created again when its session has something to post.
  const known = context.threads.registry.ofSession(session.host, session);
  // !kill has said that the session ended; a thread is not opened for the last report of its agent.
  if (known === undefined && isEnd) {
    await endTurnOf(session, letter, context);
    return undefined;
  }
  if (known?.deleted && isQuiet(event)) return undefined;
  const thread = await context.threads.ensure(session, { directory, shell: 'no', agent: letter.agent });
  const rest = thread && context.threads.connections.named(thread.server)?.rest;
  if (thread === undefined || rest === undefined) return undefined;
  const { cwd, session: claudeSession } = event;
  const driver = driverOf(letter.agent);
  return { letter, session, context, rest, thread, pane, directory, cwd, claudeSession, driver };
}

/** A prompt, after everything that the agent said before it. */
async function ask(letter: Letter, asked: AskedEvent, context: CourierContext): Promise<void> {
  const open = () => context.prompts.open(letter, asked, context.host.name);
  // A headless agent posts its texts itself.
  const report = letter.thread === undefined ? await reportOf(letter, context) : undefined;
  if (report === undefined) return open();
  await postTextsBefore(asked, letter, report);
  await context.inTurn(report.thread.thread, open);
}

/** Posted instead of a report that killed the process twice; the report's text is not processed. */
export async function postSetAsideNotice(letter: Letter, context: CourierContext, name: string): Promise<void> {
  const report = await reportOf(letter, context);
  if (report === undefined) return;
  const text = `⚠️ A report of the agent could not be processed and was set aside: \`${name}\`. Run \`threadmux outbox\` to see it.`;
  await context.inTurn(report.thread.thread, () => post(report, `aside ${letter.id}`, letter.writtenAt, { text }));
}

/** Called as soon as a letter arrives, before earlier letters are posted: a receipt needs no request. */
export function letterArrived(letter: Letter, { threads, receipts, host }: CourierContext): void {
  const { event } = letter;
  if (event.event !== 'submitted' || isNested(letter)) return;
  const server = readTmuxVariable(letter.tmux);
  const thread = server && threads.registry.ofPane(host.name, server.pid, letter.pane);
  if (thread !== undefined) receipts.submitted(thread.thread, [event.prompt], letter);
}

/** For this long, tmux may just be too busy to report the pane. */
const UNKNOWN_FOR_MS = 30_000;

function giveUpOn({ pane, writtenAt }: Letter, { log }: CourierContext): void {
  if (Date.now() - writtenAt < UNKNOWN_FOR_MS)
    throw new ThreadmuxError('session_not_found', `finding the session of pane ${pane}: tmux does not know it`);
  log.warn('letter of an unknown pane', { pane });
}

/** `claude -p` inside a session, or another program that uses the agent, runs the same hooks in the same pane. */
function isNested({ entrypoint, event }: Letter): boolean {
  return (entrypoint !== '' && entrypoint !== 'cli') || event.subagent !== undefined;
}

const HANDLERS: { readonly [E in AgentEventName]?: EventHandlerOf<EventOf<E>> } = {
  idle: handleIdle,
  failed: handleFailed,
  waiting: handleWaiting,
  notice: handleNotice,
  started: handleStarted,
  ended: handleEnded,
  submitted: handleSubmitted,
  said: handleSaid,
  tool: handleTool,
  resolved: handleResolved,
};

async function handle(event: AgentEvent, report: EventReport): Promise<EventOutcome> {
  const handler = HANDLERS[event.event] as EventHandlerOf<AgentEvent> | undefined;
  return (await handler?.(event, report)) ?? {};
}

/** Whether the agent has gone on. */
function goesOn({ event, late }: AgentEvent): boolean {
  return ['submitted', 'started', 'ended'].includes(event) || (event === 'idle' && !late);
}

/** Records the pane of the thread and the state of the agent. */
function record({ letter, session, context }: EventReport, outcome: EventOutcome): void {
  const { event, agent } = letter;
  const { registry } = context.threads;
  const before = registry.ofSession(session.host, session);
  if (before === undefined) return;
  const { path: _, ...pane } = session;
  registry.change(before.thread, {
    ...pane,
    agent,
    command: agentCommand(letter, session, before),
    cwd: event.cwd,
    project: letter.project || event.cwd,
    claudeSession: event.session || agent,
    transcript: event.transcript,
    state: outcome.state ?? before.state,
    limit: outcome.limit ?? (goesOn(event) ? afterTurn(before.limit, letter.writtenAt) : before.limit),
    told: { ...before.told, ...toldBy(letter, outcome) },
    shell: 'no',
    at: letter.writtenAt,
    failedAt: event.event === 'failed' ? letter.writtenAt : before.failedAt,
  });
}

function toldBy({ branch }: Letter, { status }: EventOutcome): NonNullable<ThreadRecord['told']> {
  const { model, context_window: context } = status ?? {};
  return {
    ...(branch === undefined ? {} : { branch }),
    ...(model === undefined ? {} : { model: model.display_name.slice(0, 100) }),
    ...(context === undefined ? {} : { context: Math.round(context.used_percentage) }),
  };
}

/** When the letter is read, the agent may already have exited; then the foreground program is not the agent. */
function agentCommand({ event }: Letter, { command, panePid }: SessionPane, before: ThreadRecord): string {
  const same = before.claudeSession === event.session && before.panePid === panePid;
  const left = event.event === 'ended' || isShell(command);
  return same && left ? before.command : command;
}
