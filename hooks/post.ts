// Posts the parts of one letter into its session's thread, each exactly once: a nonce for repeats
// within minutes, a look into the thread's history for those that come later.

import { stableNonce } from '../core/nonce.ts';
import { newest } from '../core/snowflake.ts';
import { createMessage, type Draft, messagesAfter, refusedWith } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveThread } from '../discord/threads.ts';
import type { Bound } from './thread-book.ts';

export interface Posting {
  readonly rest: Rest;
  readonly botId: string;
  readonly letterId: string;
  /** When the letter was written: how old a first attempt may be. */
  readonly since: number;
  /** The thread; asked again after it turned out to be gone. */
  readonly thread: (isGone: boolean) => Promise<Bound>;
  readonly onPosted: (last: string) => void;
}

/** The server forgets nonces after "a few minutes"; we do not rely on more than one. */
const NONCE_HOLDS_MS = 60_000;
const GONE = 10003;
const ARCHIVED = 50083;
const LOCKED = 160005;

export async function postParts(parts: readonly Draft[], posting: Posting): Promise<void> {
  let thread = await posting.thread(false);
  const posted = await postedBefore(thread, posting);
  for (const [at, part] of parts.entries()) {
    const earlier = posted.get(essence(part.content))?.shift();
    if (earlier !== undefined) {
      posting.onPosted(earlier);
      continue;
    }
    const nonce = stableNonce(posting.letterId, at);
    const create = () => createMessage(posting.rest, thread.thread, nonce, part);
    const message = await create().catch(async (error: unknown) => {
      if (refusedWith(error, GONE)) thread = await posting.thread(true);
      else if (refusedWith(error, ARCHIVED, LOCKED))
        await unarchiveThread(posting.rest, thread.thread);
      else throw error;
      return create();
    });
    if (message !== undefined) posting.onPosted(message.id);
  }
}

/** What an attempt too long ago for its nonce has left in the thread, by content. */
async function postedBefore(thread: Bound, posting: Posting): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (Date.now() - posting.since < NONCE_HOLDS_MS) return found;
  const after = newest(thread.last, thread.thread);
  const messages = await messagesAfter(posting.rest, thread.thread, after).catch(
    (error: unknown) => {
      if (refusedWith(error, GONE)) return [];
      throw error;
    },
  );
  for (const { author, content, id } of messages)
    if (author.id === posting.botId)
      found.set(essence(content), [...(found.get(essence(content)) ?? []), id]);
  return found;
}

/** Without the small lines: cost and context may have changed since. */
function essence(content: string): string {
  return content
    .split('\n')
    .filter((line) => !line.startsWith('-# '))
    .join('\n')
    .trim();
}
