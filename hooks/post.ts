// Posts the parts of one letter into its session's thread, each exactly once: a nonce for repeats
// within minutes, a look into the thread's history for those that come later.

import { stableNonce } from '../core/nonce.ts';
import { code } from '../core/outside-words.ts';
import { newest } from '../core/snowflake.ts';
import { UNKNOWN_CHANNEL } from '../discord/error-codes.ts';
import {
  createMessage,
  type Draft,
  isTooLarge,
  messagesAfter,
  refusedWith,
} from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';
import type { Posted, ThreadRecord } from '../threads/record.ts';

interface Posting {
  readonly rest: Rest;
  readonly botId: string;
  readonly letter: string;
  readonly pane: string;
  /** When the letter was written: how old a first attempt may be. */
  readonly since: number;
  /** The thread; another one if this one turned out to be gone. */
  readonly thread: (gone?: string) => Promise<ThreadRecord>;
  /** Called once, when the whole letter has been posted. */
  readonly onPosted: (posted: Posted) => void;
}

/** The server forgets nonces after "a few minutes"; we do not rely on more than one. */
const NONCE_HOLDS_MS = 60_000;

export async function postParts(parts: readonly Draft[], posting: Posting): Promise<void> {
  const { rest, letter, pane } = posting;
  let thread = await posting.thread();
  if (thread.posted.some((one) => one.letter === letter)) return;
  const found = await postedBefore(thread, posting);
  const messages: string[] = [];
  for (const [at, part] of parts.entries()) {
    const earlier = found.get(essence(part.content))?.shift();
    if (earlier !== undefined) {
      messages.push(earlier);
      continue;
    }
    const nonce = stableNonce(letter, at);
    const create = (draft: Draft) =>
      unarchiveAndRetry(rest, thread.thread, () =>
        createMessage(rest, thread.thread, nonce, draft),
      );
    const message = await create(part).catch(async (error: unknown) => {
      if (part.files?.length && isTooLarge(error)) return create(withoutFiles(part));
      if (!refusedWith(error, UNKNOWN_CHANNEL)) throw error;
      thread = await posting.thread(thread.thread);
      return create(part);
    });
    if (message !== undefined) messages.push(message.id);
  }
  posting.onPosted({ letter, pane, messages });
}

/** What an attempt too long ago for its nonce has left in the thread, by content. */
async function postedBefore(
  thread: ThreadRecord,
  posting: Posting,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const age = Date.now() - posting.since;
  // A letter from the future: the clock was set back, so its age is unknown.
  if (age >= 0 && age < NONCE_HOLDS_MS) return found;
  const after = lastOf(thread, posting.pane);
  const messages = await messagesAfter(posting.rest, thread.thread, after).catch(
    (error: unknown) => {
      if (refusedWith(error, UNKNOWN_CHANNEL)) return [];
      throw error;
    },
  );
  // What other letters have posted may read the same, and is not ours.
  const others = new Set(thread.posted.flatMap((one) => one.messages));
  for (const { author, content, id } of messages)
    if (author.id === posting.botId && !others.has(id))
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

/** The words must not wait for files that the server will never take. */
function withoutFiles({ files, ...part }: Draft): Draft {
  const names = (files ?? []).map(({ name }) => code(name)).join(', ');
  const note = `\n-# 📎 not attached, too large for this server: ${names}`;
  return { ...part, content: `${part.content}${note}`.slice(0, 2_000) };
}

const LETTERS_KEPT = 10;

/** The letter, its messages and how far its pane has come are one fact, written down at once. */
export function withPosted(
  record: Pick<ThreadRecord, 'posted' | 'last'>,
  posted: Posted,
): Pick<ThreadRecord, 'posted' | 'last'> {
  const all = [...record.posted, posted];
  const dropped = all.slice(0, -LETTERS_KEPT).flatMap(({ messages }) => messages);
  return { last: newest(record.last, ...dropped), posted: all.slice(-LETTERS_KEPT) };
}

/** The last message that is accounted for, as far as letters of this pane are concerned. */
function lastOf(record: ThreadRecord, pane: string): string {
  const own = record.posted.filter((one) => one.pane === pane).flatMap(({ messages }) => messages);
  return newest(record.last, record.thread, ...own);
}
