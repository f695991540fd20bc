// Journey 1: a letter from a hook becomes messages in its session's thread.
// The letter counts as delivered only when `deliver` has returned.

import type { HookEvent, HookInput, PermissionRequestInput } from '../agents/claude/hook-input.ts';
import { isShell } from '../agents/claude/screen/screen.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { afterTurn } from '../threads/limit-record.ts';
import { sessionKey, type ThreadRecord } from '../threads/registry.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { readTmuxVariable } from '../tmux/pane.ts';
import type { CourierContext } from './courier-context.ts';
import {
  type EventHandlerOf,
  type EventOutcome,
  type EventReport,
  handleNotification,
  handlePreToolUse,
  handleSessionEnd,
  handleSessionStart,
  handleStopFailure,
  handleUserPromptSubmit,
  turnKey,
} from './events.ts';
import type { Letter } from './letter.ts';
import { post, postTextsBefore } from './said.ts';
import { handleStop } from './stop.ts';

/** Calls `risky` before it processes the letter's text. */
export async function postLetter(letter: Letter, context: CourierContext, risky: () => void = () => {}): Promise<void> {
  const { input } = letter;
  risky();
  if (input.hook_event_name === 'PermissionRequest') return ask(letter, input, context);
  if (isNested(letter)) return;
  const report = await reportOf(letter, context);
  if (report === undefined) return;
  const { thread } = report;
  const outcome = await handle(input, report);
  if (outcome.say !== undefined) {
    const { say, id = letter.id } = outcome;
    risky();
    await context.inTurn(thread.thread, () => post(report, id, letter.writtenAt, say));
    // If the session was renamed while the thread was archived, rename the thread now that it is open.
    if (thread.archived !== 'no')
      await context.threads.ensure(report.session, { directory: report.directory, shell: 'no' });
  }
  await outcome.after?.();
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

const QUIET: readonly HookEvent[] = ['UserPromptSubmit', 'PreToolUse'];

/** Undefined if the session is gone or gets no thread. */
async function reportOf(letter: Letter, context: CourierContext): Promise<EventReport | undefined> {
  const { input, pane } = letter;
  const begins = input.hook_event_name === 'SessionStart';
  const session = await context.sessionOf(letter.tmux, pane, begins);
  const isEnd = input.hook_event_name === 'SessionEnd';
  if (session === undefined) {
    if (!isEnd) giveUpOn(letter, context);
    return undefined;
  }
  const directory = letter.project || input.cwd;
  // A thread that a user deleted is created again when its session has something to post.
  const known = context.threads.registry.ofSession(session.host, session);
  // !kill has said that the session ended; a thread is not opened for the last report of its agent.
  if (known === undefined && isEnd) {
    await endTurnOf(session, letter, context);
    return undefined;
  }
  if (known?.deleted && QUIET.includes(input.hook_event_name)) return undefined;
  const thread = await context.threads.ensure(session, { directory, shell: 'no' });
  const rest = thread && context.threads.connections.named(thread.server)?.rest;
  if (thread === undefined || rest === undefined) return undefined;
  return { letter, session, context, rest, thread, pane, directory, cwd: input.cwd, claudeSession: input.session_id };
}

/** A prompt, after everything that Claude said before it. */
async function ask(letter: Letter, input: PermissionRequestInput, context: CourierContext): Promise<void> {
  const open = () => context.prompts.open(letter, input, context.host.name);
  // A headless agent posts its texts itself.
  const report = letter.thread === undefined ? await reportOf(letter, context) : undefined;
  if (report === undefined) return open();
  await postTextsBefore(input, letter.writtenAt, report);
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
  const { input } = letter;
  if (input.hook_event_name !== 'UserPromptSubmit' || isNested(letter)) return;
  const server = readTmuxVariable(letter.tmux);
  const thread = server && threads.registry.ofPane(host.name, server.pid, letter.pane);
  if (thread !== undefined) receipts.submitted(thread.thread, [input.prompt], letter);
}

/** For this long, tmux may just be too busy to report the pane. */
const UNKNOWN_FOR_MS = 30_000;

function giveUpOn({ pane, writtenAt }: Letter, { log }: CourierContext): void {
  if (Date.now() - writtenAt < UNKNOWN_FOR_MS)
    throw new ThreadmuxError('session_not_found', `finding the session of pane ${pane}: tmux does not know it`);
  log.warn('letter of an unknown pane', { pane });
}

/** `claude -p` inside a session, or another program that uses Claude, runs the same hooks in the same pane. */
function isNested({ entrypoint, input }: Letter): boolean {
  return (entrypoint !== '' && entrypoint !== 'cli') || input.agent_id !== undefined;
}

const HANDLERS: {
  readonly [E in HookEvent]?: EventHandlerOf<Extract<HookInput, { hook_event_name: E }>>;
} = {
  Stop: handleStop,
  StopFailure: handleStopFailure,
  Notification: handleNotification,
  SessionStart: handleSessionStart,
  SessionEnd: handleSessionEnd,
  UserPromptSubmit: handleUserPromptSubmit,
  PreToolUse: handlePreToolUse,
};

async function handle(input: HookInput, report: EventReport): Promise<EventOutcome> {
  const handler = HANDLERS[input.hook_event_name] as EventHandlerOf<HookInput> | undefined;
  return (await handler?.(input, report)) ?? {};
}

/** After one of these, the agent has gone on. */
const TURNS: readonly HookEvent[] = ['UserPromptSubmit', 'Stop', 'SessionStart', 'SessionEnd'];

/** Records the pane of the thread and the state of Claude. */
function record({ letter, session, context }: EventReport, outcome: EventOutcome): void {
  const { input } = letter;
  const { registry } = context.threads;
  const before = registry.ofSession(session.host, session);
  if (before === undefined) return;
  const { path: _, ...pane } = session;
  registry.change(before.thread, {
    ...pane,
    command: agentCommand(letter, session, before),
    cwd: input.cwd,
    project: letter.project || input.cwd,
    claudeSession: input.session_id,
    transcript: input.transcript_path,
    state: outcome.state ?? before.state,
    limit:
      outcome.limit ??
      (TURNS.includes(input.hook_event_name) ? afterTurn(before.limit, letter.writtenAt) : before.limit),
    told: { ...before.told, ...toldBy(letter, outcome) },
    shell: 'no',
    at: letter.writtenAt,
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

/** When the letter is read, Claude may already have exited; then the foreground program is not the agent. */
function agentCommand({ input }: Letter, { command, panePid }: SessionPane, before: ThreadRecord): string {
  const same = before.claudeSession === input.session_id && before.panePid === panePid;
  const left = input.hook_event_name === 'SessionEnd' || isShell(command);
  return same && left ? before.command : command;
}
