// Posts the end of a turn: all that Claude said, then how it ended. A part that Discord refuses is replaced by a sentence, and
// the rest is still posted.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { isThreadmuxError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { keepTrying } from '../../core/retry-with-pauses.ts';
import { stableNonce } from '../../core/snowflake.ts';
import { UNKNOWN_CHANNEL } from '../../discord/error-codes.ts';
import { createMessage, deleteMessage, refusedWith } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { readJson, removeBestEffort, writeBestEffort } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { streamFolder } from '../../home/stream-record.ts';
import { type OpenStreamMessage, postStreamParts, type StreamPart } from '../post-stream.ts';

interface PostTurnOptions {
  readonly rest: Rest;
  readonly thread: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onShown: (shown: PostedTurn) => void;
}

const REFUSED = '-# ⚠️ Discord refused the part of the answer that belongs here.';

/** False if this process had to close first. */
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

/** The same nonces while the turn streams and at its end, so that each part gets one message. */
export function partNonce(turn: { readonly id: string; readonly startedAt: number }, at: number) {
  return ['agent', turn.id, turn.startedAt, at];
}

// What remains to be posted of a turn is saved before any of it is posted, with the messages that already show it:
// after a restart the rest is posted, and nothing twice.
const fileSchema = z.object({
  name: z.string(),
  data: z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64'))),
});
const dueSchema = z.object({
  /** The prompt. */
  id: z.string(),
  startedAt: z.number(),
  parts: z.array(z.object({ content: z.string(), files: z.array(fileSchema).exactOptional() })),
  /** How it ended, as a separate message. */
  words: z.string(),
  silent: z.boolean(),
  turn: z.object({ kind: z.enum(['done', 'failed', 'stopped']), because: z.string().exactOptional() }),
});
const notedSchema = z.object({
  id: z.string(),
  shown: z.array(z.object({ id: z.string(), content: z.string() }).nullable()),
});

type Stored = Readonly<z.output<typeof dueSchema>>;
export interface UnpostedTurn extends Omit<Stored, 'parts'> {
  readonly parts: readonly StreamPart[];
  readonly shown: PostedTurn;
}
/** The messages that show the parts so far; null for one that someone deleted. */
export type PostedTurn = readonly (OpenStreamMessage | null | undefined)[];

interface UnpostedFile {
  load(): UnpostedTurn | undefined;
  save(due: UnpostedTurn): void;
  /** What is shown now; in its own file, because the rest may be large. */
  note(due: UnpostedTurn, shown: PostedTurn): void;
  remove(): void;
}

export function openUnpostedFile(home: Home, thread: string): UnpostedFile {
  const path = (name: string) => join(streamFolder(home, thread), name);
  const note = ({ id }: UnpostedTurn, shown: PostedTurn) =>
    writeBestEffort(path('due-shown.json'), { id, shown: Array.from(shown, (one) => one ?? null) });
  return {
    load() {
      const due = readJson(path('due.json'), dueSchema);
      const noted = readJson(path('due-shown.json'), notedSchema);
      return due && { ...due, shown: noted?.id === due.id ? noted.shown : [] };
    },
    save(due) {
      note(due, due.shown);
      const { shown: _, ...rest } = due;
      writeBestEffort(path('due.json'), { ...rest, parts: due.parts.map(storedPart) });
    },
    note,
    remove() {
      for (const name of ['due.json', 'due-shown.json']) removeBestEffort(path(name));
    },
  };
}

function storedPart({ content, files }: StreamPart) {
  const stored = files?.map(({ name, data }) => ({ name, data: Buffer.from(data).toString('base64') }));
  return { content, ...(stored === undefined ? {} : { files: stored }) };
}

// Posting is retried until it succeeds or is refused: a server that does not answer may be back later.
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };

/** Resolves with the error if it was refused; resolves in any case when the signal aborts. */
async function retryUntilPosted(
  show: () => Promise<unknown>,
  { thread, log, signal }: PostTurnOptions,
): Promise<Error | undefined> {
  if (signal.aborted) return undefined;
  const onFailure = (error: unknown) => {
    log.warn('showing what an agent said', { thread, because: (error as Error).message });
    if (!isPassing(error)) throw error;
  };
  try {
    await keepTrying(show, { ...PAUSES, signal, onFailure });
    return undefined;
  } catch (error) {
    return signal.aborted ? undefined : (error as Error);
  }
}

/** A refused token will be replaced, so keep trying. */
function isPassing(error: unknown): boolean {
  return isThreadmuxError(error, 'discord_unreachable') || isThreadmuxError(error, 'discord_unauthorized');
}

/** Returns early when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(ms, 0), undefined, { signal }).catch(() => {});
}
