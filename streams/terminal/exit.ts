// Tells in a terminal's thread that its program has ended: the one message of a terminal that notifies.

import { stableNonce } from '../../core/snowflake.ts';
import { createMessage } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import type { TextStore } from './text-store.ts';
import { exitMessage, type TerminalEnding } from './texts.ts';

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

/** With the whole text as a file of at most `wholeBytes`, if that is given. */
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
