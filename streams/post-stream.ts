// Messages that show the end of a growing text. Changed parts are edited in place, new parts are posted, surplus
// messages are deleted: afterwards the thread shows exactly `parts`.

import { stableNonce } from '../core/snowflake.ts';
import { UNKNOWN_MESSAGE } from '../discord/error-codes.ts';
import { createMessage, deleteMessage, editMessage, refusedWith } from '../discord/messages.ts';
import type { FileUpload, Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';

export interface StreamPart {
  readonly content: string;
  /** Attached once, with the final edit of the message. */
  readonly files?: readonly FileUpload[];
}

/** A message of ours that may still change, and its content. */
export interface OpenStreamMessage {
  readonly id: string;
  readonly content: string;
}

export interface PostStreamOptions {
  readonly rest: Rest;
  readonly thread: string;
  /** Derived from the identity of the part, so that a repeat after a crash creates no duplicate. */
  readonly nonce: (at: number) => readonly (string | number)[];
  readonly signal: AbortSignal;
  /** Called after every message with the messages that are open now. */
  readonly onShown?: (open: readonly OpenStreamMessage[]) => void;
  /** What to show instead of a part that failed; if undefined, the error is thrown. */
  readonly instead?: (at: number, error: unknown) => StreamPart | undefined;
}

/**
 * Resolves with the messages that show the parts, in order; undefined for one that someone deleted as soon as it was posted.
 * A part must have content or files.
 */
export async function postStreamParts(
  open: readonly OpenStreamMessage[],
  parts: readonly StreamPart[],
  showing: PostStreamOptions,
): Promise<readonly OpenStreamMessage[]> {
  const now: OpenStreamMessage[] = [...open];
  for (const [at, part] of parts.entries()) {
    const known = now[at];
    const message = await shown(at, known, part, showing).catch((error: unknown) => {
      const other = showing.instead?.(at, error);
      if (other === undefined) throw error;
      return shown(at, known, other, showing);
    });
    if (message === undefined || message === known) continue;
    now[at] = message;
    showing.onShown?.([...now]);
  }
  for (const { id } of now.splice(parts.length).flatMap((message) => message ?? []))
    await deleteMessage(showing.rest, showing.thread, id, { signal: showing.signal });
  return now;
}

async function shown(
  at: number,
  known: OpenStreamMessage | undefined,
  part: StreamPart,
  showing: PostStreamOptions,
): Promise<OpenStreamMessage | undefined> {
  const message = known === undefined ? undefined : await edited(known, part, showing);
  return message ?? (await posted(at, part, showing));
}

/** Undefined if someone has deleted it. */
async function edited(
  known: OpenStreamMessage,
  part: StreamPart,
  showing: PostStreamOptions,
): Promise<OpenStreamMessage | undefined> {
  const { rest, thread, signal } = showing;
  if (known.content === part.content && part.files === undefined) return known;
  const edit = () => editMessage(rest, thread, known.id, part, { signal });
  try {
    await unarchiveAndRetry(rest, thread, edit, { signal });
    return { id: known.id, content: part.content };
  } catch (error) {
    if (refusedWith(error, UNKNOWN_MESSAGE)) return undefined;
    throw error;
  }
}

async function posted(
  at: number,
  part: StreamPart,
  showing: PostStreamOptions,
): Promise<OpenStreamMessage | undefined> {
  const { rest, thread, signal } = showing;
  const nonce = stableNonce('stream', thread, ...showing.nonce(at));
  const draft = { ...part, silent: true };
  const message = await createMessage(rest, thread, nonce, draft, { signal });
  if (message === undefined) return undefined;
  // An earlier attempt may have created it with older content.
  const made = { id: message.id, content: message.content };
  return made.content === part.content ? made : edited(made, part, showing);
}
