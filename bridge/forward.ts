// One message on its way into its pane: look, decide, type, Enter; then the receipt. It is in the
// inbox until its outcome is known, and every step may be repeated: the marks in the pane tell.

import { setTimeout as sleep } from 'node:timers/promises';
import { DIALOG, hasDialog } from '../claude/dialog-line.ts';
import { readScreen, type Screen } from '../claude/screen.ts';
import { timesShown } from '../claude/screen-words.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { reason } from '../core/outside-words.ts';
import { timeOf } from '../core/snowflake.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import { deliver } from '../tmux/deliver.ts';
import { leaveMode } from '../tmux/leave-mode.ts';
import { type Look, look } from '../tmux/look.ts';
import type { Tmux } from '../tmux/tmux.ts';
import type { Typed } from './compose.ts';
import { decide } from './decide.ts';
import type { Panes } from './panes.ts';
import { runInShell, writeToProgram } from './shell.ts';

export interface Errand {
  /** Grows with every attempt the person orders; the pane remembers it. */
  readonly deliveryId: string;
  readonly thread: ThreadRef;
  readonly typed: Exclude<Typed, { kind: 'nothing' }>;
}

export interface Way {
  readonly panes: Panes;
  readonly allowShell: boolean;
  readonly signal: AbortSignal;
  readonly settleMs?: number;
  /** Said once it is clear that the message has to wait, and again when the reason changes. */
  readonly onWaiting: (because: string, screen: string | undefined) => Promise<void>;
  /** The text of ours in this thread that was typed last and is not confirmed yet. */
  readonly standing: () => Standing | undefined;
}

export interface Standing {
  readonly text: string;
  /** What the pane showed before it was typed. */
  readonly before: string;
  readonly at: number;
}

export type Outcome =
  | {
      readonly kind: 'typed';
      readonly tmux: Tmux;
      readonly record: PaneRecord;
      readonly before: string;
    }
  /** Without an output if that streams into the thread anyway. */
  | { readonly kind: 'ran'; readonly output: string | undefined }
  | { readonly kind: 'failed'; readonly because: string; readonly screen: string | undefined };

export const STASH = { key: 'C-s', confirmed: '› stashed' } as const;
const GIVE_UP_MS = 24 * 3_600_000;
const PATIENCE_MS = 2_500;
const LONGEST_PAUSE_MS = 10_000;

export async function forward(errand: Errand, way: Way): Promise<Outcome> {
  const began = Date.now();
  let told = '';
  for (let tries = 0; ; tries++) {
    const turn = await attempt(errand, way, tries > 0);
    if (turn.kind !== 'wait') return turn;
    if (isTooOld(errand.deliveryId))
      return {
        kind: 'failed',
        because: `It has waited for a day. ${turn.because}`,
        screen: turn.screen,
      };
    if (told !== turn.because && (turn.surely || Date.now() - began > PATIENCE_MS)) {
      told = turn.because;
      await way.onWaiting(turn.because, turn.screen);
    }
    await sleep(Math.min(LONGEST_PAUSE_MS, 250 * 1.5 ** Math.min(tries, 20)), undefined, {
      signal: way.signal,
    });
  }
}

/** What has waited for a day is given up: nobody expects it to be typed any more. */
export function isTooOld(deliveryId: string): boolean {
  return Date.now() > timeOf(deliveryId) + GIVE_UP_MS;
}

interface Waiting {
  readonly kind: 'wait';
  readonly because: string;
  readonly screen: string | undefined;
  /** No need to see whether it passes by itself. */
  readonly surely: boolean;
}

async function attempt(errand: Errand, way: Way, again: boolean): Promise<Outcome | Waiting> {
  try {
    const pane = await way.panes.find(errand.thread, again);
    if (pane === undefined)
      return failed(
        /^\[(?:terminal|headless)\] /.test(errand.thread.title)
          ? 'This one was ended. `!terminal` and `!agent` start another.'
          : 'Nothing has reported from this session yet: start Claude in it, with the hooks installed.',
      );
    const turn = await typeInto(errand, way, pane.tmux, pane.record);
    // A Claude that was started anew has another pane than the one we remember.
    return turn.kind === 'failed' && pane.remembered ? attempt(errand, way, true) : turn;
  } catch (error) {
    if (isThreadmuxError(error, 'host_unreachable') || isThreadmuxError(error, 'tmux_failed'))
      return {
        kind: 'wait',
        because: reason(error),
        screen: undefined,
        surely: isThreadmuxError(error, 'host_unreachable'),
      };
    if (isThreadmuxError(error))
      return failed([error.message, error.hint].filter(Boolean).join(' '));
    throw error;
  }
}

async function typeInto(
  errand: Errand,
  way: Way,
  tmux: Tmux,
  record: PaneRecord,
): Promise<Outcome | Waiting> {
  const seen = await look(tmux, record, { signal: way.signal });
  // Typed by an attempt before a crash or a lost connection: only its receipt is still to come.
  if (wasEntered(seen, errand.deliveryId))
    return record.shell === 'no'
      ? { kind: 'typed', tmux, record, before: '' }
      : {
          kind: 'ran',
          output: seen.kind === 'gone' || isStreaming(record) ? undefined : seen.text,
        };
  const screen = seen.kind === 'gone' ? ({ kind: 'unknown' } as const) : screenOf(seen, record);
  const text = seen.kind === 'gone' ? undefined : seen.text;
  const standing = way.standing();
  const step = decide({
    look: seen,
    screen,
    record,
    allowShell: way.allowShell,
    standing: standing?.text,
  });
  const guard = { pane: record, command: record.command, dialog: DIALOG };
  switch (step.do) {
    case 'refuse':
      return failed(step.because, text);
    case 'wait':
      return { kind: 'wait', because: step.because, screen: text, surely: false };
    case 'leave-mode':
      await leaveMode(tmux, guard);
      return { kind: 'wait', because: 'The pane is in copy mode.', screen: text, surely: false };
    case 'run': {
      // In a terminal one program may start another at any moment: all of them are meant.
      if (isStreaming(record))
        return writeToProgram(tmux, { pane: record, command: undefined }, errand);
      const command = seen.kind === 'pane' ? seen.command : '';
      return runInShell(tmux, { pane: record, command }, errand);
    }
    case 'type': {
      if (hasDialog(text ?? ''))
        return { kind: 'wait', because: 'Claude shows a dialog.', screen: text, surely: false };
      if (standing !== undefined && !hasArrived(standing, text ?? '', Date.now()))
        return {
          kind: 'wait',
          because: 'An earlier message is on its way into the box.',
          screen: text,
          surely: false,
        };
      const delivery = await deliver(
        tmux,
        guard,
        { id: errand.deliveryId, text: errand.typed.text },
        {
          signal: way.signal,
          ...(way.settleMs === undefined ? {} : { settleMs: way.settleMs }),
          ...(step.stash ? { stash: STASH } : {}),
        },
      );
      if (delivery.kind === 'delivered' || delivery.kind === 'already')
        return { kind: 'typed', tmux, record, before: text ?? '' };
      if (delivery.kind === 'text-only')
        return failed(
          'The text was put into the box, but something came up before Enter: look, and press Enter if it is right.',
          text,
        );
      return {
        kind: 'wait',
        because: `The pane changed while we looked (${delivery.because}).`,
        screen: text,
        surely: false,
      };
    }
  }
}

/** After this it is judged by the box alone. */
const ARRIVES_WITHIN_MS = 2_000;

/**
 * While Claude Code is too busy to read, the box looks empty although a text and its Enter are on the way; what is typed
 * then becomes one message with it. So the earlier one has to be seen submitted, if it is not confirmed yet.
 */
export function hasArrived({ text, before, at }: Standing, screen: string, now: number): boolean {
  return now - at > ARRIVES_WITHIN_MS || timesShown(screen, text) > timesShown(before, text);
}

export function screenOf(
  seen: Look & { kind: 'pane' },
  record: Pick<PaneRecord, 'command'>,
): Screen {
  // As tmux prints it, with a line end after the last line too.
  return readScreen(`${seen.ansi}\n`, {
    cursorX: seen.cursor.x,
    cursorY: seen.cursor.y,
    width: seen.width,
    height: seen.height,
    paneDead: seen.dead,
    inMode: seen.mode !== undefined,
    title: seen.title,
    currentCommand: seen.command,
    agentCommand: record.command,
  });
}

/** What it prints is in the thread as soon as it is printed. */
function isStreaming({ shell }: PaneRecord): boolean {
  return shell === 'terminal';
}

function wasEntered(seen: Look, deliveryId: string): boolean {
  return (
    seen.kind === 'pane' &&
    seen.typed.enter !== undefined &&
    BigInt(seen.typed.enter) >= BigInt(deliveryId)
  );
}

function failed(because: string, screen?: string): Outcome {
  return { kind: 'failed', because, screen };
}
