// Posts that a terminal's program has ended: the only message of a terminal that notifies.

import { formatDuration } from '../../core/duration.ts';
import { stableNonce } from '../../core/snowflake.ts';
import { untrustedText } from '../../core/untrusted-text.ts';
import { createMessage } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { screenBlock } from '../../threads/notices.ts';
import { linesInWords } from './message-plan.ts';
import type { TextStore } from './state.ts';

interface ExitContext {
  readonly thread: string;
  readonly startedAt: number;
  readonly ending: TerminalEnding;
  readonly lines: number;
  /** When the thread last showed something new. */
  readonly movedAt: number;
}

const JUST_SHOWN_MS = 10_000;
const LAST_LINES = 10;
const LAST_BYTES = 4000;

/** Attaches the complete text as a file of at most `wholeBytes`, if that is given. */
export async function postExit(
  rest: Rest,
  about: ExitContext,
  store: TextStore,
  wholeBytes: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { thread, startedAt, movedAt } = about;
  const { base, length } = store.kept();
  const from = Math.max(base, length - (wholeBytes ?? 0));
  const content = exitMessage({
    ...about,
    lastLines: Date.now() - movedAt < JUST_SHOWN_MS ? '' : lastLines(store, length),
    ...(wholeBytes === undefined ? {} : { whole: from === 0 ? 'all' : 'end' }),
  });
  const data = store.slice(from, length);
  const files = wholeBytes === undefined || data.length === 0 ? [] : [{ name: 'whole.txt', data }];
  const nonce = stableNonce('terminal-exit', thread, startedAt);
  await createMessage(rest, thread, nonce, { content, files }, { signal });
}

export function isExitMessage(content: string): boolean {
  return /^⏹️ (?:Exited|Ended|Over)\b/.test(content);
}

function lastLines(store: TextStore, length: number): string {
  const end = store.slice(Math.max(0, length - LAST_BYTES), length).toString('utf8');
  return end.trimEnd().split('\n').slice(-LAST_LINES).join('\n');
}

/** How a program ended, as far as known. */
export type TerminalEnding =
  | { readonly kind: 'exited'; readonly code?: number; readonly signal?: string; readonly at: number }
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

/** The exit code of a shell whose program was ended by a signal. */
function bySignal(code: number): boolean {
  return code > 128 && code <= 128 + 31;
}

interface TerminalExit extends Pick<ExitContext, 'ending' | 'startedAt' | 'lines'> {
  /** Empty if they are visible just above. */
  readonly lastLines: string;
  /** Whether the attached file has all of the text; undefined without a file. */
  readonly whole?: 'all' | 'end';
}

export function exitMessage(exit: TerminalExit): string {
  const { ending, lines, whole } = exit;
  const words = endingWords(ending);
  const how = ending.kind === 'gone' ? `Over: ${words}` : capital(words);
  const last = exit.lastLines.trim() === '' ? [] : [screenBlock(exit.lastLines)];
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
  return `${linesInWords(lines)} in ${formatDuration(ended.at - startedAt)}; ${ended.how}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
