// The input and the result of every handler: what to post, and the new state of Claude.

import { setTimeout as sleep } from 'node:timers/promises';
import type {
  HookInput,
  NotificationInput,
  PreToolUseInput,
  SessionEndInput,
  SessionStartInput,
  StopFailureInput,
  StopInput,
  UserPromptSubmitInput,
} from '../agents/claude/hook-input.ts';
import { screenFingerprint } from '../agents/claude/screen/fingerprint.ts';
import { isShell, readScreen } from '../agents/claude/screen/screen.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { keyButtons } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { Host } from '../hosts/host.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { lookAtPane } from '../tmux/look.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { CourierContext } from './courier-context.ts';
import type { Letter } from './letter.ts';
import type { MessageParts } from './post-parts.ts';
import { handleStop } from './stop.ts';

export interface EventReport {
  readonly letter: Letter;
  readonly session: SessionPane;
  readonly context: CourierContext;
  readonly rest: Rest;
  readonly thread: ThreadRecord;
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
  readonly state?: ThreadRecord['state'];
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
  if (input.reason === 'clear') return { state: 'idle' };
  const { context, rest } = report;
  const endTurn = () => context.progress.end(turnOf(report), rest, 'interrupted');
  if (!(await isLeft(report))) {
    await endTurn();
    return { state: 'ended', after: context.sessionsChanged.tell };
  }
  return { state: 'ended', say: { text: '⏹️ Claude has exited.', silent: true }, after: endTurn };
}

/** Whether the pane is still there after Claude has exited: the hook runs before that. */
async function isLeft({ context, session }: EventReport): Promise<boolean> {
  const tmux = tmuxOn(context.host, session.socket);
  for (const ms of EXIT_LOOKS_MS) {
    await sleep(ms);
    const seen = await lookAtPane(tmux, session).catch(() => undefined);
    if (seen?.kind === 'gone') return false;
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

export function handleStopFailure(input: StopFailureInput, report: EventReport): EventOutcome {
  const what = WORDS[input.error ?? ''] ?? 'the turn ended with an error';
  const said = input.last_assistant_message ?? untrustedText(input.error_details ?? '');
  return {
    state: 'idle',
    say: {
      text: `⚠️ Claude stopped: ${what}.${said.trim() === '' ? '' : `\n> ${said.trim().split('\n').join('\n> ')}`}`,
    },
    after: () => report.context.progress.end(turnOf(report), report.rest, 'failed'),
  };
}

// UserPromptSubmit: a prompt was submitted, so a turn begins.

export async function handleUserPromptSubmit(input: UserPromptSubmitInput, report: EventReport): Promise<EventOutcome> {
  const { context, rest, letter, session, thread } = report;
  context.receipts.submitted(thread.thread, [input.prompt], letter);
  context.shown.begin(input.session_id, input.prompt_id ?? letter.id);
  // If the previous turn ended without a report (Esc in the terminal), its progress message is still there.
  await context.progress.end(turnOf(report), rest, 'interrupted');
  const age = Date.now() - letter.writtenAt;
  if (age < 60_000)
    context.progress.begin({
      key: turnOf(report),
      rest,
      thread: thread.thread,
      transcript: input.transcript_path,
      promptId: input.prompt_id,
      level: context.config.progress,
      ...(context.hosts.isLocal(context.host.name) ? {} : { files: context.files }),
      isAtRest: () => isIdle(context.host, session),
    });
  return { state: 'working' };
}

// Whether Claude is idle in a pane, read from its screen: no hook reports a turn that was interrupted before Claude's
// first text.

async function isIdle(host: Host, session: SessionPane): Promise<boolean> {
  const pane = await lookAtPane(tmuxOn(host, session.socket), session);
  if (pane.kind === 'gone' || pane.panePid !== session.panePid) return true;
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
  return (screen.kind === 'empty' || screen.kind === 'draft') && !screen.busy;
}
