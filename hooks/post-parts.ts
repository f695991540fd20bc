// Posts the parts of one letter into its session's thread, each exactly once: a nonce prevents repeats within minutes, and the
// history of the thread is checked for later ones.

import { newest, stableNonce } from '../core/snowflake.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { UNKNOWN_CHANNEL } from '../discord/error-codes.ts';
import { createMessage, isTooLarge, type MessageDraft, messagesAfter, refusedWith } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';
import type { PostedPart, ThreadRecord } from '../threads/thread-record.ts';

interface Posting {
  readonly rest: Rest;
  readonly botId: string;
  readonly letter: string;
  readonly pane: string;
  /** When the letter was written: a first attempt cannot be older. */
  readonly since: number;
  /** The thread; a new one if `gone` was deleted. */
  readonly thread: (gone?: string) => Promise<ThreadRecord>;
  /** Called once, when the whole letter has been posted. */
  readonly onPosted: (posted: PostedPart) => void;
}

/** Discord forgets nonces after "a few minutes"; we rely on one minute only. */
const NONCE_HOLDS_MS = 60_000;

export async function postParts(parts: readonly MessageDraft[], posting: Posting): Promise<void> {
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
    const create = (draft: MessageDraft) =>
      unarchiveAndRetry(rest, thread.thread, () => createMessage(rest, thread.thread, nonce, draft));
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

/** Messages of an earlier attempt whose nonces may have expired, by content. */
async function postedBefore(thread: ThreadRecord, posting: Posting): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  const age = Date.now() - posting.since;
  // A negative age: the clock was set back, so the real age is unknown.
  if (age >= 0 && age < NONCE_HOLDS_MS) return found;
  const after = lastOf(thread, posting.pane);
  const messages = await messagesAfter(posting.rest, thread.thread, after).catch((error: unknown) => {
    if (refusedWith(error, UNKNOWN_CHANNEL)) return [];
    throw error;
  });
  // Other letters may have posted the same text.
  const others = new Set(thread.posted.flatMap((one) => one.messages));
  for (const { author, content, id } of messages)
    if (author.id === posting.botId && !others.has(id))
      found.set(essence(content), [...(found.get(essence(content)) ?? []), id]);
  return found;
}

/** The content without small lines, in which cost and context may have changed. */
function essence(content: string): string {
  return content
    .split('\n')
    .filter((line) => !line.startsWith('-# '))
    .join('\n')
    .trim();
}

/** The text must not wait for files that the server will never accept. */
function withoutFiles({ files, ...part }: MessageDraft): MessageDraft {
  const names = (files ?? []).map(({ name }) => untrustedCode(name)).join(', ');
  const note = `\n-# 📎 not attached, too large for this server: ${names}`;
  return { ...part, content: `${part.content}${note}`.slice(0, 2_000) };
}

const LETTERS_KEPT = 10;

/** Changes `posted` and `last` together, so that they are saved in one write. */
export function withPosted(
  record: Pick<ThreadRecord, 'posted' | 'last'>,
  posted: PostedPart,
): Pick<ThreadRecord, 'posted' | 'last'> {
  const all = [...record.posted, posted];
  const dropped = all.slice(0, -LETTERS_KEPT).flatMap(({ messages }) => messages);
  return { last: newest(record.last, ...dropped), posted: all.slice(-LETTERS_KEPT) };
}

/** The last known message for letters of this pane. */
function lastOf(record: ThreadRecord, pane: string): string {
  const own = record.posted.filter((one) => one.pane === pane).flatMap(({ messages }) => messages);
  return newest(record.last, record.thread, ...own);
}
