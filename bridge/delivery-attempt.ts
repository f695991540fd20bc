// One attempt to type a message: look, decide, type, Enter. It can be repeated after any step, because marks in the
// pane record what was done.

import type { ScreenReader } from '../agents/driver.ts';
import { hasDialog } from '../agents/screen-fingerprint.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { isStreamTitle } from '../core/thread-title.ts';
import { untrustedReason } from '../core/untrusted-text.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { PaneFinder } from '../threads/panes.ts';
import { readPane } from '../threads/read-pane.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import { leaveMode } from '../tmux/keys.ts';
import { lookAtPane } from '../tmux/look.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { isCovered, typeMessage } from '../tmux/type-message.ts';
import { isMarked } from './confirm.ts';
import { decide, type PaneState } from './decide-typing.ts';
import { isFresh } from './inbox.ts';
import { runInShell, writeToProgram } from './type-into-program.ts';
import type { TypedText } from './typed-text.ts';

/** A message on its way into its pane. */
export interface TypedState {
  /** A newer id for each Retry; the pane stores the last one. */
  readonly deliveryId: string;
  readonly thread: ThreadRef;
  readonly typed: Exclude<TypedText, { kind: 'nothing' }>;
  /** See `isFresh`. */
  readonly liveAt: number | undefined;
}

interface AttemptOptions {
  readonly panes: PaneFinder;
  readonly allowShell: boolean;
  readonly afterExit: (record: ThreadRecord, liveAt: number | undefined) => PaneState['afterExit'];
  readonly signal: AbortSignal;
  readonly settleMs: number | undefined;
  /** The last text that was typed in this thread. */
  readonly standing: () => AttemptState | undefined;
  /** A dialog is open: it gets its card, or is closed if it only shows something. */
  readonly onDialog: () => Promise<unknown>;
  /** Right before the first key. */
  readonly onTyping: () => void;
  /** Called when none of the text is in the pane, even if an earlier attempt had started. */
  readonly onUntyped: () => void;
}

export interface AttemptState {
  readonly text: string;
  /** What the pane showed before it was typed. */
  readonly before: string;
  readonly at: number;
  /** When its receipt came. */
  readonly confirmedAt?: number;
}

export type AttemptOutcome =
  | {
      readonly kind: 'typed';
      readonly tmux: Tmux;
      readonly record: ThreadRecord;
      readonly before: string;
      /** A dialog opened after the text was pasted, so Enter was not pressed. */
      readonly isCovered?: boolean;
      /** The box stayed as it was, so Enter was not pressed. */
      readonly isUnread?: boolean;
    }
  /** No output if it streams into the thread anyway. */
  | { readonly kind: 'ran'; readonly output: string | undefined }
  /** Nothing was typed. */
  | {
      readonly kind: 'failed';
      readonly because: string;
      readonly screen: string | undefined;
      /** There is no session. */
      readonly isAbsent?: boolean;
      readonly isExit?: boolean | undefined;
    }
  /** Text or keys are in the pane, and it is unknown whether they were submitted. */
  | { readonly kind: 'unconfirmed'; readonly because: string; readonly screen: string | undefined };

export interface WaitingAttempt {
  readonly kind: 'wait';
  readonly because: string;
  readonly screen: string | undefined;
  /** Tell the user at once, because it will not end by itself within seconds. */
  readonly surely: boolean;
  /** An own message is on its way into the box: this ends within milliseconds. */
  readonly soon: boolean;
}

export async function attemptDelivery(
  message: TypedState,
  options: AttemptOptions,
): Promise<AttemptOutcome | WaitingAttempt> {
  try {
    const pane = await options.panes.find(message.thread);
    if (pane === undefined) return notRunning(message.thread);
    const first = await typeInto(message, options, pane.tmux, pane.record);
    if (first !== 'gone') return first;
    // A restarted agent runs in another pane than the recorded one.
    const found = await options.panes.find(message.thread, true);
    if (found === undefined) return notRunning(message.thread);
    const second = await typeInto(message, options, found.tmux, found.record);
    return second === 'gone' ? failed('The pane is gone, because its session was closed.') : second;
  } catch (error) {
    if (isThreadmuxError(error, 'host_unreachable') || isThreadmuxError(error, 'tmux_failed'))
      return waiting(untrustedReason(error), undefined, { surely: isThreadmuxError(error, 'host_unreachable') });
    if (isThreadmuxError(error)) return failed([error.message, error.hint].filter(Boolean).join(' '));
    throw error;
  }
}

function notRunning({ title }: ThreadRef): AttemptOutcome {
  return isStreamTitle(title)
    ? failed('It was ended. `!terminal` and `!agent` start a new one.')
    : {
        kind: 'failed',
        because: 'The session is not running. `!new` with its name starts it again.',
        screen: undefined,
        isAbsent: true,
      };
}

async function typeInto(
  message: TypedState,
  options: AttemptOptions,
  tmux: Tmux,
  record: ThreadRecord,
): Promise<AttemptOutcome | WaitingAttempt | 'gone'> {
  const seen = await lookAtPane(tmux, record, { signal: options.signal });
  const isOther = seen.kind === 'gone' || seen.serverPid !== record.serverPid || seen.panePid !== record.panePid;
  if (isOther && record.shell !== 'terminal') return 'gone';
  const { screen, isAgent, driver } = readPane(seen, record);
  // Without hooks, the program that was just seen must still be in the foreground.
  const isReported = record.shell === 'no' && record.claudeSession !== '';
  const { command: foreground } = seen.kind === 'gone' ? record : seen;
  const command = isReported ? record.command : foreground;
  const into = { kind: 'typed', tmux, record: { ...record, command } } as const;
  // An attempt before a crash or a lost connection has typed it. Only the receipt is missing.
  if (seen.kind === 'pane' && isMarked(seen.typed.enter, message.deliveryId))
    return isAgent
      ? { ...into, before: '' }
      : { kind: 'ran', output: record.shell === 'terminal' ? undefined : seen.text };
  if (seen.kind === 'pane' && !isOther && !isMarked(seen.typed.text, message.deliveryId)) options.onUntyped();
  const text = seen.kind === 'gone' ? undefined : seen.text;
  const last = options.standing();
  const standing = last?.confirmedAt === undefined ? last : undefined;
  // A receipt may be faster than the screen: what the box shows then is not a draft of the user.
  const inBox = Date.now() - (last?.confirmedAt ?? Date.now()) < ARRIVES_WITHIN_MS ? last : undefined;
  const step = decide({
    look: seen,
    screen,
    record,
    isAgent,
    driver,
    text: message.typed.text,
    allowShell: options.allowShell,
    afterExit: options.afterExit(record, message.liveAt),
    standing: inBox?.text,
    now: Date.now(),
    isFresh: isFresh(message.liveAt, performance.now()),
  });
  const guard = { pane: record, command, dialog: driver.screen.dialogLine };
  switch (step.do) {
    case 'refuse':
      return { kind: 'failed', because: step.because, screen: text, isExit: step.isExit };
    case 'wait': {
      if (screen.kind === 'dialog') {
        await options.onDialog();
        return waiting(step.because, undefined);
      }
      const isOurs = screen.kind === 'draft' && inBox !== undefined;
      return waiting(step.because, text, { soon: isOurs && Date.now() - inBox.at < ARRIVES_WITHIN_MS });
    }
    case 'leave-mode':
      await leaveMode(tmux, guard);
      return waiting('The pane is in copy mode.', text);
    case 'run': {
      options.onTyping();
      // In a terminal, one program may start another at any moment, and the input is for all of them.
      const ran =
        record.shell === 'terminal'
          ? await writeToProgram(tmux, { pane: record, command: undefined, ...step.still }, message)
          : await runInShell(tmux, { pane: record, command: foreground, ...step.still }, message);
      if (ran.kind === 'failed') options.onUntyped();
      return ran;
    }
    case 'type': {
      if (hasDialog(text ?? '', driver.screen))
        return waiting(`${driver.title} shows a dialog. Answer it, and your message is typed.`, text);
      if (standing !== undefined && !hasArrived(standing, text ?? '', Date.now(), driver.screen))
        return waiting('An earlier message is still being typed.', text, { soon: true });
      options.onTyping();
      const { typing } = driver;
      const delivery = await typeMessage(
        tmux,
        { ...guard, shows: seen.kind === 'gone' ? [] : typing.boxLines(seen.text, message.typed.text, seen) },
        { id: message.deliveryId, text: message.typed.text },
        {
          signal: options.signal,
          shown: typing.shownText(message.typed.text),
          ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
          stash: step.stash ? typing.stash : undefined,
          turnEnds: typing.turnEnds,
        },
      );
      if (delivery.kind === 'delivered' || delivery.kind === 'already') return { ...into, before: text ?? '' };
      if (delivery.kind === 'text-only' && isReported && isCovered(delivery.because))
        return { ...into, before: text ?? '', isCovered: true, isUnread: delivery.because === 'unread' };
      if (delivery.kind === 'text-only')
        return { kind: 'unconfirmed', because: delivery.because === 'mixed' ? MIXED : CHANGED, screen: text };
      options.onUntyped();
      return waiting(`The pane changed before the text was typed (${delivery.because}).`, text);
    }
  }
}

const CHANGED = 'The text is in the input box, but the screen changed before Enter was pressed.';
const MIXED =
  'The text is in the input box after another text, so Enter was not pressed. Clear the box in the terminal, or with `!key C-u`.';
/** After this time, only the input box decides. */
const ARRIVES_WITHIN_MS = 2_000;

/**
 * While an agent is too busy to read, its box looks empty although a text and Enter are waiting in the terminal.
 * Text that is typed then would join that message, so an unconfirmed earlier message must be visible as submitted
 * first.
 */
export function hasArrived(
  { text, before, at }: AttemptState,
  screen: string,
  now: number,
  { timesShown }: Pick<ScreenReader, 'timesShown'>,
): boolean {
  return now - at > ARRIVES_WITHIN_MS || timesShown(screen, text) > timesShown(before, text);
}

function waiting(
  because: string,
  screen: string | undefined,
  { surely = false, soon = false }: Partial<Pick<WaitingAttempt, 'surely' | 'soon'>> = {},
): WaitingAttempt {
  return { kind: 'wait', because, screen, surely, soon };
}

function failed(because: string, screen?: string): AttemptOutcome {
  return { kind: 'failed', because, screen };
}
