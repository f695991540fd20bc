// Types into a program that is not Claude. A plain shell runs the text as a command, and its output is returned; other
// programs get the text as input.

import { setTimeout as sleep } from 'node:timers/promises';
import { lookAtPane } from '../tmux/look.ts';
import type { PaneGuard, PaneRef } from '../tmux/pane.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { typeMessage } from '../tmux/type-message.ts';
import type { AttemptOutcome, TypedState } from './delivery-attempt.ts';

const SETTLE_MS = 100;
const QUIET_MS = 600;
const LONGEST_MS = 15_000;
const HISTORY = 400;
const MOST_BYTES = 8 * 2 ** 20;
/** More than the history and a large screen; a host may send millions. */
const MOST_LINES = 2_000;

export async function runInShell(
  tmux: Tmux,
  guard: PaneGuard & { readonly command: string },
  message: TypedState,
): Promise<AttemptOutcome> {
  const before = await lines(tmux, guard.pane);
  const written = await writeToProgram(tmux, guard, message);
  if (written.kind === 'failed' || written.kind === 'unconfirmed') return { ...written, screen: before.join('\n') };
  const after = await settled(tmux, guard.pane);
  return { kind: 'ran', output: newLines(before, after) };
}

/** Types the text and Enter. */
export async function writeToProgram(tmux: Tmux, guard: PaneGuard, message: TypedState): Promise<AttemptOutcome> {
  const text = { id: message.deliveryId, text: message.typed.text };
  // One line is typed as keys, because an editor inserts pasted text even in command mode.
  const asKeys = guard.command === undefined && !/[\n\t]/.test(text.text);
  const delivery = await typeMessage(tmux, guard, text, { settleMs: SETTLE_MS, asKeys });
  // A program may exit at the first key, before Enter.
  if (delivery.kind === 'text-only' && delivery.because !== 'dead')
    return {
      kind: 'unconfirmed',
      because: `The text was typed, but Enter was not pressed (${delivery.because}). Press it with \`!enter\`.`,
      screen: undefined,
    };
  if (delivery.kind === 'refused')
    return { kind: 'failed', because: `The program accepted no input (${delivery.because}).`, screen: undefined };
  return { kind: 'ran', output: undefined };
}

/** The screen, once it has stopped changing. */
async function settled(tmux: Tmux, pane: PaneRef): Promise<readonly string[]> {
  const deadline = Date.now() + LONGEST_MS;
  let last = await lines(tmux, pane);
  for (let since = Date.now(); Date.now() < deadline && Date.now() - since < QUIET_MS; ) {
    await sleep(150);
    const now = await lines(tmux, pane);
    if (now.join('\n') !== last.join('\n')) since = Date.now();
    last = now;
  }
  return last;
}

async function lines(tmux: Tmux, pane: PaneRef): Promise<readonly string[]> {
  const seen = await lookAtPane(tmux, pane, { history: HISTORY, maxBytes: MOST_BYTES });
  return seen.kind === 'gone' ? [] : lastLinesOf(seen.text);
}

export function lastLinesOf(text: string): readonly string[] {
  return text.trimEnd().split('\n').slice(-MOST_LINES);
}

/** The lines after the old prompt; its own line is included, with the command. */
export function newLines(before: readonly string[], after: readonly string[]): string {
  const kept = before.slice(0, -1);
  for (let overlap = Math.min(kept.length, after.length); overlap > 0; overlap--) {
    const tail = kept.slice(-overlap);
    if (tail.every((line, at) => line === after[at])) return after.slice(overlap).join('\n');
  }
  return after.join('\n');
}
