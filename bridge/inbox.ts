// Messages accepted and not yet done with, one file each. A message is here before anything is
// done about it and leaves when its outcome is known: a crash neither skips nor repeats it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isNewer, newest, snowflakeAt } from '../core/snowflake.ts';
import { cancelPendingWrite, removeBestEffort, writeBestEffort } from '../home/best-effort-write.ts';
import { readJson, writeJson } from '../home/whole-file.ts';

const shownPromptSchema = z.object({
  id: z.string(),
  messageId: z.string(),
  question: z.number(),
  labels: z.array(z.string()).readonly(),
});

export const acceptedMessageSchema = z.object({
  id: z.string(),
  channelId: z.string(),
  authorId: z.string(),
  author: z.string(),
  /** Set by Retry; otherwise the message's id. */
  deliveryId: z.string().optional(),
  text: z.string(),
  /** The message it replies to. */
  repliedTo: z.string().optional(),
  /** The name of the server it was written on; others share the folder. */
  server: z.string().default(''),
  /**
   * What it was taken for when it came, while a prompt was open: the answer to that prompt, or unclear. Written down
   * first, so that it is never given to the prompt and typed as well.
   */
  answers: z.union([shownPromptSchema, z.literal('unclear')]).optional(),
  /** Of an order that was carried out: only this is still to be said. */
  answer: z.string().optional(),
  attachments: z.array(z.object({ id: z.string(), filename: z.string(), size: z.number(), url: z.string() })),
});
export type AcceptedMessage = Omit<z.output<typeof acceptedMessageSchema>, 'server'> & {
  /**
   * When the gateway told us of it (of `performance.now`). Missing for a message that was missed or repeated; never
   * stored, so that a message from the inbox is not live after a restart.
   */
  readonly liveAt?: number;
};

const FRESH_MS = 15_000;

/** Whether a message came live, and was not held up since, by a full disk for example. */
export function isFresh(liveAt: number | undefined, now: number): boolean {
  return liveAt !== undefined && now - liveAt < FRESH_MS;
}

export interface Inbox {
  /** False if it was taken before. Durable when it returns. */
  take(message: AcceptedMessage): boolean;
  /** One that was taken before, to be done once more. */
  put(message: AcceptedMessage): void;
  done(id: string): void;
  /** What an earlier process left, in the order in which it is typed. */
  left(): readonly AcceptedMessage[];
}

export function openInbox(folder: string, cursors: Cursors, server = ''): Inbox {
  const path = (id: string) => join(folder, `${id}.json`);
  return {
    take(message) {
      if (cursors.isRead(message.channelId, message.id)) return false;
      // First the message, then the cursor: between the two a crash repeats what is already here.
      writeJson(path(message.id), { ...message, server, liveAt: undefined });
      cursors.advance(message.channelId, message.id);
      return true;
    },
    put: (message) => writeJson(path(message.id), { ...message, server, liveAt: undefined }),
    done: (id) => removeBestEffort(path(id)),
    left: () =>
      readdirSync(folder)
        .filter((name) => /^\d+\.json$/.test(name))
        .flatMap((name) => readJson(join(folder, name), acceptedMessageSchema) ?? [])
        .filter((message) => message.server === server || message.server === '')
        .sort((a, b) => (isNewer(orderOf(a), orderOf(b)) ? 1 : -1)),
  };
}

/** The pane takes everything up to the last id it saw for typed, so a Retry goes where it was ordered. */
function orderOf({ deliveryId, id }: Pick<AcceptedMessage, 'deliveryId' | 'id'>): string {
  return deliveryId ?? id;
}

// How far each channel and thread was read, kept in state/cursors.json. Nothing written before the very first run is
// ever acted on; everything after it is, once.

const schema = z.object({ since: z.string(), read: z.record(z.string(), z.string()) });

export interface Cursors {
  /** The last message done with; for a channel we never saw, the moment we first ran. */
  get(channelId: string): string;
  isRead(channelId: string, messageId: string): boolean;
  /** Durable when it returns. */
  advance(channelId: string, messageId: string): void;
  forget(channelId: string): void;
  channels(): readonly string[];
}

export function openCursors(path: string, now = Date.now()): Cursors {
  const stored = readJson(path, schema);
  const since = stored?.since ?? snowflakeAt(now);
  const read = new Map(Object.entries(stored?.read ?? {}));
  if (stored === undefined) writeJson(path, { since, read: {} });
  const get = (channelId: string) => read.get(channelId) ?? newest(since, channelId);
  return {
    get,
    isRead: (channelId, messageId) => !isNewer(messageId, get(channelId)),
    advance(channelId, messageId) {
      if (!isNewer(messageId, get(channelId))) return;
      // Written before it counts: a message is acted on only when a restart would not act on it again.
      writeJson(path, { since, read: { ...Object.fromEntries(read), [channelId]: messageId } });
      cancelPendingWrite(path);
      read.set(channelId, messageId);
    },
    forget(channelId) {
      if (read.delete(channelId)) writeBestEffort(path, { since, read: Object.fromEntries(read) });
    },
    channels: () => [...read.keys()],
  };
}
