// The input and the result of every handler: what to post, and the new state of the agent.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../agents/driver.ts';
import type { AgentEvent, EventOf } from '../agents/event.ts';
import { isShell } from '../agents/shell-name.ts';
import type { StatusLineInput } from '../agents/status-line.ts';
import { textsOf } from '../agents/turn.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { keyButtons } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { LimitRecord } from '../threads/limit-record.ts';
import { limitNotice, reachedLimit } from '../threads/limit-record.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import { isDeclaredStart } from '../threads/remembered-session.ts';
import { lookAtPane } from '../tmux/look.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import { followedTurn } from './followed-turn.ts';
import type { Letter } from './letter.ts';
import type { MessageParts } from './post-parts.ts';
import { postTexts, reportedText, type Speaker } from './post-texts.ts';

export interface EventReport extends Speaker {
  readonly letter: Letter;
  readonly rest: Rest;
  readonly driver: AgentDriver;
}

/** The key of a turn's progress. It includes the pane, because two panes of one session may work at the same time. */
export function turnOf({ thread, letter }: EventReport): string {
  return turnKey(thread.thread, letter.pane);
}

export function turnKey(thread: string, pane: string): string {
  return `${thread} ${pane}`;
}

export interface EventOutcome {
  readonly say?: MessageParts;
  /** The id of what is said; by default that of the letter. */
  readonly id?: string;
  readonly state?: ThreadRecord['state'];
  /** What the status line said at the end of the turn. */
  readonly status?: StatusLineInput | undefined;
  /** A usage limit that was reached. */
  readonly limit?: LimitRecord;
  /** Called after `say` has been posted. */
  readonly after?: () => void | Promise<void>;
}

export type EventHandlerOf<E extends AgentEvent> = (
  event: E,
  report: EventReport,
) => Promise<EventOutcome> | EventOutcome;

// The agent waits for a person. Posts only what the thread does not show yet.

/** With our hook the prompt is already in the thread; without it (an older Claude Code) the screen is posted. */
export async function handleWaiting(
  { message, session: agentSession }: EventOf<'waiting'>,
  { context, session, driver }: EventReport,
): Promise<EventOutcome> {
  // By keys: the card of its dialog is posted when the dialog is seen.
  const hasCard = driver.guarantees.permission === 'keys';
  if (message === undefined || hasCard || context.prompts.isOpenFor(agentSession)) return { state: 'waiting' };
  const seen = await lookAtPane(tmuxOn(context.host, session.socket), session);
  const screen = seen.kind === 'gone' ? '' : screenBlock(seen.text);
  return {
    state: 'waiting',
    say: { text: `🔔 ${untrustedText(message)}\n${screen}`, components: [keyButtons()] },
  };
}

export function handleNotice({ message }: EventOf<'notice'>): EventOutcome {
  return { say: { text: `🔔 ${untrustedText(message)}`, silent: true } };
}

// The agent has exited, unless the user only cleared the conversation. If its session ends with it, the session's end is the
// one message (lifecycle.ts).

const EXIT_LOOKS_MS = [50, 150, 300, 500, 1_000];

export async function handleEnded({ reason }: EventOf<'ended'>, report: EventReport): Promise<EventOutcome> {
  const { context, rest, driver } = report;
  // Before the exit is told: a turn that was running may have texts that are not posted yet.
  await context.progress.end(turnOf(report), rest, 'interrupted');
  if (reason === 'clear') return { state: 'idle' };
  if (report.thread.state === 'ended') return {}; // Gemini CLI reports its exit three times
  if (!(await isLeft(report))) return { state: 'ended', after: context.sessionsChanged.tell };
  return { state: 'ended', say: { text: `⏹️ ${driver.title} has exited.`, silent: true } };
}

/** Whether the pane is still there after the agent has exited: the hook runs before that. */
async function isLeft({ context, session }: EventReport): Promise<boolean> {
  const tmux = tmuxOn(context.host, session.socket);
  for (const ms of EXIT_LOOKS_MS) {
    await sleep(ms);
    const seen = await lookAtPane(tmux, session).catch(() => undefined);
    if (seen?.kind === 'gone' || (seen?.dead && isDeclaredStart(session.started))) return false;
    if (seen?.dead || (seen !== undefined && isShell(seen.command))) return true;
  }
  return true;
}

// The agent runs in this pane now. After /clear and compaction the conversation is new, but nothing is posted, because the
// thread continues.

export function handleStarted({ source }: EventOf<'started'>, { driver }: EventReport): EventOutcome {
  if (source === 'clear' || source === 'compact') return { state: 'idle' };
  const how = source === 'resume' ? 'resumed' : 'started';
  return { state: 'idle', say: { text: `▶️ ${driver.title} ${how}.`, silent: true } };
}

// A prompt was submitted, so a turn begins.

export async function handleSubmitted(event: EventOf<'submitted'>, report: EventReport): Promise<EventOutcome> {
  const { context, rest, letter, session, thread } = report;
  context.receipts.submitted(thread.thread, [event.prompt], letter);
  context.shown.begin(event.session, event.turn ?? letter.id);
  // If the previous turn ended without a report (Esc in the terminal), its progress message is still there.
  await context.progress.end(turnOf(report), rest, 'interrupted');
  context.reported.begin(turnOf(report), event.prompt);
  const { session: claudeSession, transcript, turn: promptId, cwd } = event;
  const record = {
    thread: thread.thread,
    message: '',
    posts: 0,
    since: letter.writtenAt,
    agent: letter.agent,
    host: context.host.name,
    tmux: letter.tmux,
    pane: letter.pane,
    directory: report.directory,
    cwd,
    claudeSession,
    transcript,
    promptId,
  };
  context.progress.begin(followedTurn(turnOf(report), record, context, rest, session));
  return { state: 'working' };
}

// What an agent without a transcript says and does while it works.

export async function handleSaid(event: EventOf<'said'>, report: EventReport): Promise<EventOutcome> {
  const text = reportedText(event, event.id, event.text, report.letter.writtenAt);
  report.context.reported.said(turnOf(report), text);
  await postTexts(report, [text]);
  return {};
}

export function handleTool(event: EventOf<'tool'>, report: EventReport): EventOutcome {
  report.context.reported.tool(turnOf(report), event, report.letter.id);
  return { state: 'working' };
}

/** A prompt was answered in the terminal. */
export function handleResolved({ session, ask }: EventOf<'resolved'>, { context }: EventReport): EventOutcome {
  context.prompts.resolve(context.host.name, session, ask);
  return { state: 'working' };
}

// The turn ended with an error, or a usage limit was reached.

export async function handleFailed(event: EventOf<'failed'>, report: EventReport): Promise<EventOutcome> {
  const { context, rest, driver } = report;
  const { transcript, turn: promptId } = event;
  const key = turnOf(report);
  const read = driver.turns?.read(transcript, { promptId, files: context.files }).catch(() => undefined); // the failure must be told
  const turn = read === undefined ? context.reported.of(key) : await read;
  await context.progress.stop(key);
  await postTexts(report, textsOf(turn));
  const { notice, ...limited } = limitOf(event, report) ?? {};
  const said = untrustedText(event.details ?? '').trim();
  const quoted = said === '' ? '' : `\n> ${said.split('\n').join('\n> ')}`;
  const resets = notice === undefined ? '' : `\n${notice.text}`;
  const text = `⚠️ ${driver.title} stopped: ${untrustedText(event.error, 300)}.${quoted}${resets}`;
  return {
    state: 'idle',
    ...limited,
    say: { text, components: notice?.components ?? [] },
    after: () => context.progress.end(key, rest, 'failed', turn),
  };
}

/** Undefined if it is no usage limit, or its reset time is not known. */
function limitOf(event: EventOf<'failed'>, { letter, context, directory, thread, driver }: EventReport) {
  const resetsAt = driver.resetOf?.(event, letter.writtenAt);
  if (resetsAt === undefined) return undefined;
  const onLimit = context.threads.destinationOf({ host: context.host.name, directory })?.project.onLimit ?? 'tell';
  const limit = reachedLimit(thread.limit, { letter: letter.id, at: letter.writtenAt, resetsAt, onLimit });
  return { limit, notice: limitNotice(limit, onLimit) };
}
