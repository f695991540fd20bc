// Posts the parts of one letter into its session's thread, each exactly once: a nonce prevents repeats within minutes, and the
// history of the thread is checked for later ones.

import { tablesToCode } from '../core/markdown-tables.ts';
import { newest, stableNonce } from '../core/snowflake.ts';
import { splitMessage } from '../core/split.ts';
import { cutMessage, untrustedCode } from '../core/untrusted-text.ts';
import { UNKNOWN_CHANNEL } from '../discord/error-codes.ts';
import {
  type ComponentRow,
  createMessage,
  isTooLarge,
  type MessageDraft,
  messagesAfter,
  refusedWith,
} from '../discord/messages.ts';
import type { FileUpload, Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';
import type { PostedPart, ThreadRecord } from '../threads/registry.ts';

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
    // With the thread: a nonce holds for all channels, and the id of a text comes from its host.
    const create = (draft: MessageDraft) =>
      unarchiveAndRetry(rest, thread.thread, () =>
        createMessage(rest, thread.thread, stableNonce(letter, thread.thread, at), draft),
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
  return { ...part, content: cutMessage(`${part.content}${note}`, 2_000) };
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

// Turns a text into Discord messages: tables are aligned, and the text is split at good places. Only the first message notifies.
// A text that needs too many messages is attached as a file, after its first messages.

export interface MessageParts {
  readonly text: string;
  /** A small line above: the host, project and session. */
  readonly header?: string;
  /** A small line below: model, context, cost. */
  readonly footer?: string;
  readonly files?: readonly FileUpload[];
  /** Shown below the last message. */
  readonly components?: readonly ComponentRow[];
  /** Posted without a notification. */
  readonly silent?: boolean;
}

/** A reply that needs more messages is attached as a file. */
const PARTS = 20;
/** Characters to format: far more than is shown of an attached reply. */
const FORMATTED = 60_000;
/** The approximate length of one message. */
const PART = 1_900;
const SMALL = 200;
/** Constant, so that a retry splits at the same places even if cost and context have changed. */
const ROOM = { header: SMALL + 4, footer: SMALL + 4 };

export function fitMessage(saying: MessageParts): readonly MessageDraft[] {
  const header = small(saying.header);
  const footer = small(saying.footer);
  const silent = saying.silent ?? false;
  // Format only the part that is shown: a reply may have megabytes.
  const isHuge = saying.text.length > FORMATTED;
  const all = splitMessage(tablesToCode(isHuge ? beginOf(saying.text) : saying.text), ROOM);
  const count = isHuge ? Math.ceil(saying.text.length / PART) : all.length;
  const parts = count > PARTS ? [...all.slice(0, PARTS - 1), longNote(count)] : [...all];
  if (parts.length === 0) {
    if (!saying.files?.length) return [];
    parts.push('');
  }
  parts[0] = joined(header, parts[0] ?? '');
  parts[parts.length - 1] = joined(parts.at(-1) ?? '', footer);
  const files = [...(saying.files ?? []), ...(count > PARTS ? [wholeReply(saying.text)] : [])];
  const isLast = (at: number) => at === parts.length - 1;
  return parts.map((content, at) => ({
    content,
    silent: silent || at > 0,
    ...(isLast(at) && saying.components !== undefined ? { components: saying.components } : {}),
    ...(isLast(at) && files.length > 0 ? { files } : {}),
  }));
}

function beginOf(text: string): string {
  const begin = text.slice(0, FORMATTED);
  return begin.slice(0, begin.lastIndexOf('\n') + 1 || begin.length);
}

function small(line: string | undefined): string {
  return line ? `-# ${line.replace(/\s+/g, ' ').slice(0, SMALL)}` : '';
}

function joined(...lines: readonly string[]): string {
  return lines.filter(Boolean).join('\n');
}

function longNote(parts: number): string {
  return `*… about ${parts - PARTS + 1} more messages. The whole reply is in the file.*`;
}

function wholeReply(text: string): FileUpload {
  return { name: 'reply.md', data: new TextEncoder().encode(text) };
}
