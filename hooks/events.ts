// The input and the result of every handler: what to post, and the new state of Claude.

import { setTimeout as sleep } from 'node:timers/promises';
import type {
  HookInput,
  NotificationInput,
  PreToolUseInput,
  SessionEndInput,
  SessionStartInput,
  StatusLineInput,
  StopFailureInput,
  StopInput,
  UserPromptSubmitInput,
} from '../agents/claude/hook-input.ts';
import { screenFingerprint } from '../agents/claude/screen/fingerprint.ts';
import { isShell, readScreen } from '../agents/claude/screen/screen.ts';
import { readTurn, textsOf } from '../agents/claude/transcript/transcript.ts';
import { parseUsageLimit } from '../agents/claude/usage-limit.ts';
import { newest } from '../core/snowflake.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { keyButtons } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { Host } from '../hosts/host.ts';
import { type LimitRecord, limitNotice, reachedLimit } from '../threads/limit-record.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import { isDeclaredStart } from '../threads/remembered-session.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { lookAtPane } from '../tmux/look.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { CourierContext } from './courier-context.ts';
import type { Letter } from './letter.ts';
import type { MessageParts } from './post-parts.ts';
import type { FollowedTurn } from './progress.ts';
import type { TurnRecord } from './progress-lines.ts';
import { postTexts, type Speaker } from './said.ts';
import { handleStop } from './stop.ts';

export interface EventReport extends Speaker {
  readonly letter: Letter;
  readonly rest: Rest;
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

export type EventHandlerOf<I extends HookInput> = (
  input: I,
  report: EventReport,
) => Promise<EventOutcome> | EventOutcome;

// Notification: Claude waits for the user. Posts only what the thread does not show yet.

export function handleNotification(
  input: NotificationInput,
  report: EventReport,
): Promise<EventOutcome> | EventOutcome {
  switch (input.notification_type) {
    case 'idle_prompt': {
      const { context } = report;
      if (context.shown.answered(input.session_id, input.prompt_id ?? '')) return { state: 'idle' };
      // No Stop was received (the hook was not installed yet): read the reply from the transcript.
      const stopped: StopInput = { ...input, hook_event_name: 'Stop', stop_hook_active: false };
      return handleStop(stopped, report);
    }
    case 'permission_prompt':
      return permissionPrompt(input, report);
    default:
      return { say: { text: `🔔 ${untrustedText(input.message)}`, silent: true } };
  }
}

/** With our hook the prompt is already in the thread; without it (an older Claude Code) the screen is posted. */
async function permissionPrompt(input: NotificationInput, { context, session }: EventReport): Promise<EventOutcome> {
  if (context.prompts.isOpenFor(input.session_id)) return { state: 'waiting' };
  const seen = await lookAtPane(tmuxOn(context.host, session.socket), session);
  const screen = seen.kind === 'gone' ? '' : screenBlock(seen.text);
  const print = seen.kind === 'gone' ? undefined : screenFingerprint(session.paneId, seen);
  return {
    state: 'waiting',
    say: { text: `🔔 ${untrustedText(input.message)}\n${screen}`, components: [keyButtons(print)] },
  };
}

// PreToolUse, installed only for questions and plans: Claude is about to ask the user something.

export function handlePreToolUse(_input: PreToolUseInput): EventOutcome {
  return { state: 'waiting' };
}

// SessionEnd: Claude has exited, unless the user only cleared the conversation. If its session ends with it, the session's end
// is the one message (lifecycle.ts).

const EXIT_LOOKS_MS = [50, 150, 300, 500, 1_000];

export async function handleSessionEnd(input: SessionEndInput, report: EventReport): Promise<EventOutcome> {
  const { context, rest } = report;
  // Before the exit is told: a turn that was running may have texts that are not posted yet.
  await context.progress.end(turnOf(report), rest, 'interrupted');
  if (input.reason === 'clear') return { state: 'idle' };
  if (!(await isLeft(report))) return { state: 'ended', after: context.sessionsChanged.tell };
  return { state: 'ended', say: { text: '⏹️ Claude has exited.', silent: true } };
}

/** Whether the pane is still there after Claude has exited: the hook runs before that. */
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

// SessionStart: Claude runs in this pane now. After /clear and compaction the conversation is new, but nothing is
// posted, because the thread continues.

export function handleSessionStart(input: SessionStartInput): EventOutcome {
  if (input.source === 'clear' || input.source === 'compact') return { state: 'idle' };
  const how = input.source === 'resume' ? 'resumed' : 'started';
  return { state: 'idle', say: { text: `▶️ Claude ${how}.`, silent: true } };
}

// StopFailure: the turn ended with an API error, or a usage limit was reached.

const WORDS: Readonly<Record<string, string>> = {
  rate_limit: 'a usage limit was reached',
  authentication_failed: 'Claude Code is not logged in',
  billing_error: 'there is a problem with the account',
  server_error: 'the service failed',
};

export async function handleStopFailure(input: StopFailureInput, report: EventReport): Promise<EventOutcome> {
  const { context, rest } = report;
  const what = WORDS[input.error ?? ''] ?? 'the turn ended with an error';
  const said = input.last_assistant_message ?? untrustedText(input.error_details ?? '');
  const { transcript_path: path, prompt_id: promptId } = input;
  const turn = await readTurn(path, { promptId, files: context.files }).catch(() => undefined); // the failure must be told
  await context.progress.stop(turnOf(report));
  await postTexts(report, textsOf(turn));
  const { notice, ...limited } = limitOf(input, report) ?? {};
  const quoted = said.trim() === '' ? '' : `\n> ${said.trim().split('\n').join('\n> ')}`;
  const resets = notice === undefined ? '' : `\n${notice.text}`;
  return {
    ...{ state: 'idle', ...limited },
    say: { text: `⚠️ Claude stopped: ${what}.${quoted}${resets}`, components: notice?.components ?? [] },
    after: () => context.progress.end(turnOf(report), rest, 'failed', turn),
  };
}

/** Undefined if it is no usage limit, or its reset time is not known. */
function limitOf({ error, last_assistant_message: text = '' }: StopFailureInput, report: EventReport) {
  const { letter, context, directory, thread } = report;
  const { resetsAt } = parseUsageLimit({ error, text }, letter.writtenAt) ?? {};
  if (resetsAt === undefined) return undefined;
  const onLimit = context.threads.destinationOf({ host: context.host.name, directory })?.project.onLimit ?? 'tell';
  const limit = reachedLimit(thread.limit, { letter: letter.id, at: letter.writtenAt, resetsAt, onLimit });
  return { limit, notice: limitNotice(limit, onLimit) };
}

// UserPromptSubmit: a prompt was submitted, so a turn begins.

export async function handleUserPromptSubmit(input: UserPromptSubmitInput, report: EventReport): Promise<EventOutcome> {
  const { context, rest, letter, session, thread } = report;
  context.receipts.submitted(thread.thread, [input.prompt], letter);
  context.shown.begin(input.session_id, input.prompt_id ?? letter.id);
  // If the previous turn ended without a report (Esc in the terminal), its progress message is still there.
  await context.progress.end(turnOf(report), rest, 'interrupted');
  const { session_id: claudeSession, transcript_path: transcript, prompt_id: promptId, cwd } = input;
  const record = {
    ...{ thread: thread.thread, message: '', posts: 0, since: letter.writtenAt },
    ...{ host: context.host.name, tmux: letter.tmux, pane: letter.pane, directory: report.directory },
    ...{ cwd, claudeSession, transcript, promptId },
  };
  context.progress.begin(followedTurn(turnOf(report), record, context, rest, session));
  return { state: 'working' };
}

/** `session` is looked up if it is not known: an earlier process has begun to follow the turn. */
export function followedTurn(
  key: string,
  record: TurnRecord,
  context: CourierContext,
  rest: Rest,
  session?: SessionPane,
): FollowedTurn {
  const { registry } = context.threads;
  const find = async () => session ?? (await context.sessionOf(record.tmux, record.pane));
  return {
    ...{ key, record, rest },
    ...(context.hosts.isLocal(context.host.name) ? {} : { files: context.files }),
    async say(texts) {
      const known = texts.length === 0 ? undefined : await find();
      const thread = registry.get(record.thread);
      if (known === undefined || thread === undefined || thread.deleted || thread.closed) return; // makes no new thread
      await postTexts({ ...record, context, session: known, thread }, texts);
    },
    lastPosted: () => newest('0', ...(registry.get(record.thread)?.posted ?? []).flatMap(({ messages }) => messages)),
    isAsking: () => context.prompts.inThread(record.thread).length > 0,
    async look() {
      const known = await find();
      return known === undefined ? 'idle' : lookAtClaude(context.host, known);
    },
  };
}

// What Claude does in a pane, read from its screen: no hook reports a turn that was interrupted before Claude's first text.

async function lookAtClaude(host: Host, session: SessionPane): Promise<'idle' | 'dialog' | 'busy'> {
  const pane = await lookAtPane(tmuxOn(host, session.socket), session);
  if (pane.kind === 'gone' || pane.panePid !== session.panePid) return 'idle';
  const screen = readScreen(`${pane.ansi}\n`, {
    cursorX: pane.cursor.x,
    cursorY: pane.cursor.y,
    width: pane.width,
    height: pane.height,
    paneDead: pane.dead,
    inMode: pane.mode !== undefined,
    title: pane.title,
    currentCommand: pane.command,
    agentCommand: session.command,
  });
  if (screen.kind === 'dialog') return 'dialog';
  return (screen.kind === 'empty' || screen.kind === 'draft') && !screen.busy ? 'idle' : 'busy';
}
