// What is said of a terminal's end. Pure.

import { formatDuration } from '../../core/duration.ts';
import { insideFence, neutralise } from '../../core/neutralise.ts';
import { untrustedText } from '../../core/untrusted-text.ts';
import { amount } from './plan.ts';

/** How a program ended, as far as anybody knows. */
export type TerminalEnding =
  | {
      readonly kind: 'exited';
      readonly code?: number;
      readonly signal?: string;
      readonly at: number;
    }
  | { readonly kind: 'gone'; readonly at: number }
  | { readonly kind: 'ended'; readonly at: number };

export function endingWords(ending: TerminalEnding): string {
  switch (ending.kind) {
    case 'gone':
      return 'its session is gone';
    case 'ended':
      return 'ended';
    case 'exited':
      if (ending.signal !== undefined) return `ended by signal ${untrustedText(ending.signal, 20)}`;
      if (ending.code === undefined) return 'ended by a signal';
      return bySignal(ending.code)
        ? `ended by signal ${ending.code - 128} (code ${ending.code})`
        : `exited with code ${ending.code}`;
  }
}

/** So a shell tells of a program that a signal ended. */
function bySignal(code: number): boolean {
  return code > 128 && code <= 128 + 31;
}

interface TerminalExit {
  readonly ending: TerminalEnding;
  readonly startedAt: number;
  readonly lines: number;
  /** Empty if they stand just above. */
  readonly lastLines: string;
  /** Whether the file with the whole text has all of it; undefined without one. */
  readonly whole?: 'all' | 'end';
}

const LAST_ROOM = 1200;

export function exitMessage(exit: TerminalExit): string {
  const { ending, lines, whole } = exit;
  const words = endingWords(ending);
  const how = ending.kind === 'gone' ? `Over: ${words}` : capital(words);
  const last = exit.lastLines.trim() === '' ? [] : [insideFence(neutralise(exit.lastLines).slice(-LAST_ROOM))];
  return [
    `⏹️ ${how} after ${formatDuration(ending.at - exit.startedAt)}.`,
    ...(lines === 0 ? ['-# It printed nothing.'] : []),
    ...last,
    ...(whole === undefined
      ? []
      : [`-# Attached: ${whole === 'all' ? 'the whole output' : 'the end of the output'}, as one file.`]),
    '-# `!screen` shows its last screen, `!done` archives this thread, `!terminal …` starts another.',
  ].join('\n');
}

export function terminalSummary(
  lines: number,
  startedAt: number,
  ended: { readonly at: number; readonly how: string },
): string {
  const counted = `${amount(lines)} ${lines === 1 ? 'line' : 'lines'}`;
  return `${counted} in ${formatDuration(ended.at - startedAt)}; ${ended.how}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
