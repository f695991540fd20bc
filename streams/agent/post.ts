// Tells the end of a turn: all that Claude said, then how it ended. What Discord refuses is replaced by a sentence, and
// the rest comes all the same.

import type { Log } from '../../core/log.ts';
import { stableNonce } from '../../core/snowflake.ts';
import { UNKNOWN_CHANNEL } from '../../discord/error-codes.ts';
import { createMessage, deleteMessage, refusedWith } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { postStreamParts, type StreamPart } from '../post-stream.ts';
import { retryUntilPosted } from '../retry-until-posted.ts';
import type { PostedTurn, UnpostedTurn } from './unposted.ts';

interface PostTurnOptions {
  readonly rest: Rest;
  readonly thread: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onShown: (shown: PostedTurn) => void;
}

const REFUSED = '-# ⚠️ Discord refused the part of the answer that belongs here.';

/** False if we had to leave first. */
export async function postTurn(due: UnpostedTurn, telling: PostTurnOptions): Promise<boolean> {
  await showAll(due, telling);
  const { rest, thread, signal } = telling;
  const nonce = stableNonce('agent', thread, due.id, 'words', String(due.startedAt));
  const draft = { content: due.words, silent: due.silent };
  let isSaid = false;
  const refusal = await retryUntilPosted(async () => {
    await createMessage(rest, thread, nonce, draft, { signal });
    isSaid = true;
  }, telling);
  return isSaid || refusal !== undefined;
}

async function showAll(due: UnpostedTurn, telling: PostTurnOptions): Promise<void> {
  const { rest, thread, signal } = telling;
  const shown = [...due.shown];
  const show = (at: number, part: StreamPart) =>
    retryUntilPosted(async () => {
      const known = shown[at];
      const nonce = () => partNonce(due, at);
      const open = known ? [known] : [];
      const [now] = await postStreamParts(open, [part], { rest, thread, nonce, signal });
      shown[at] = now;
      if (now !== known) telling.onShown(shown);
    }, telling);
  for (const [at, part] of due.parts.entries()) {
    const refusal = await show(at, part);
    if (signal.aborted || refusedWith(refusal, UNKNOWN_CHANNEL)) return;
    if (refusal !== undefined) await show(at, { content: REFUSED });
  }
  for (const surplus of shown.slice(due.parts.length))
    if (surplus) await retryUntilPosted(() => deleteMessage(rest, thread, surplus.id), telling);
}

/** The same while it streams and at its end: one message for a part. */
export function partNonce(turn: { readonly id: string; readonly startedAt: number }, at: number) {
  return ['agent', turn.id, turn.startedAt, at];
}
