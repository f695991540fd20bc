// The inbox: accepted messages whose outcome is not known yet, one file each. A message is stored before anything is
// done with it, so that a crash neither skips nor repeats it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { isNewer, newest, snowflakeAt, snowflakeTime } from '../core/snowflake.ts';
import { cancelPendingWrite, readJson, removeBestEffort, writeBestEffort, writeJson } from '../home/atomic-write.ts';

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
  /** The thread it is for, if it was written in the channel: a user created a thread from it. */
  into: z.string().optional(),
  text: z.string(),
  /** The message it replies to. */
  repliedTo: z.string().optional(),
  /** The name of the server it was written on; others share the folder. */
  server: z.string().default(''),
  /**
   * What the message means if a prompt was open when it arrived: the answer to that prompt, or unclear. Stored first,
   * so that it is never both given to the prompt and typed.
   */
  answers: z.union([shownPromptSchema, z.literal('unclear')]).optional(),
  /** What a person chose for a text that begins with "/"; see slash-decision.ts. */
  as: z.enum(['text', 'command']).optional(),
  /** The model that the thread is set to if the agent takes this command (`!set model`); empty removes the setting. */
  setsModel: z.string().optional(),
  /** The reply of a command that was run; only the reply must still be posted. */
  answer: z.string().optional(),
  /** The message in the thread that tells about this one; empty if there may be one whose id is not known. */
  notice: z.string().optional(),
  attachments: z.array(z.object({ id: z.string(), filename: z.string(), size: z.number(), url: z.string() })),
});
export type AcceptedMessage = Omit<z.output<typeof acceptedMessageSchema>, 'server'> & {
  /**
   * When it was written, if the gateway delivered it live (`performance.now`). Missing if it was missed or replayed. Never stored, so that no
   * message is live after a restart.
   */
  readonly liveAt?: number;
};

/** The thread or channel whose session gets the message. */
export function targetOf({ into, channelId }: Pick<AcceptedMessage, 'into' | 'channelId'>): string {
  return into ?? channelId;
}

const FRESH_MS = 15_000;

/** Whether a message came live and was not delayed, for example by the network or a full disk. */
export function isFresh(liveAt: number | undefined, now: number): boolean {
  return liveAt !== undefined && now - liveAt < FRESH_MS;
}

export interface Inbox {
  /** False if it was taken before. Durable when it returns. */
  take(message: AcceptedMessage): boolean;
  /** Stores an accepted message again. */
  put(message: AcceptedMessage): void;
  done(message: Pick<AcceptedMessage, 'id' | 'deliveryId'>): void;
  isOpen(id: string): boolean;
  /** The `notice` of a message that is not done. */
  noticeOf(id: string): string | undefined;
  setNotice(id: string, notice: string | undefined): void;
  /** What an earlier process left, in the order in which it is typed. */
  left(): readonly AcceptedMessage[];
}

export function openInbox(folder: string, cursors: Cursors, server = ''): Inbox {
  const path = (id: string) => join(folder, `${id}.json`);
  /** As they are stored. */
  const open = new Map<string, Omit<AcceptedMessage, 'liveAt'>>();

  /** The notice is stored with the message, but only `setNotice` changes it. */
  function put(message: AcceptedMessage): void {
    const { notice = message.notice } = open.get(message.id) ?? {};
    const stored = { ...message, notice, server, liveAt: undefined };
    writeJson(path(message.id), stored);
    cancelPendingWrite(path(message.id));
    open.set(message.id, stored);
  }

  return {
    put,
    take(message) {
      if (cursors.isRead(message.channelId, message.id)) return false;
      // The message first, then the cursor: a crash between them repeats a message that is already stored.
      put(message);
      cursors.advance(message.channelId, message.id);
      return true;
    },
    done({ id, deliveryId }) {
      // A Retry can begin before the failed attempt has ended.
      if (open.has(id) && open.get(id)?.deliveryId !== deliveryId) return;
      open.delete(id);
      removeBestEffort(path(id));
    },
    isOpen: (id) => open.has(id),
    noticeOf: (id) => open.get(id)?.notice,
    setNotice(id, notice) {
      const message = open.get(id);
      if (message === undefined || message.notice === notice) return;
      const stored = { ...message, notice };
      open.set(id, stored);
      writeBestEffort(path(id), stored);
    },
    left() {
      const found = readdirSync(folder)
        .filter((name) => /^\d+\.json$/.test(name))
        .flatMap((name) => readJson(join(folder, name), acceptedMessageSchema) ?? [])
        .filter((message) => message.server === server || message.server === '')
        .sort((a, b) => (isNewer(orderOf(a), orderOf(b)) ? 1 : -1));
      for (const message of found) open.set(message.id, message);
      return found;
    },
  };
}

/** The pane treats all ids up to the last one as typed, so a Retry is ordered by its own id. */
function orderOf({ deliveryId, id }: Pick<AcceptedMessage, 'deliveryId' | 'id'>): string {
  return deliveryId ?? id;
}

// Cursors: how far each channel and thread was read. Messages from before the first run are never acted on; later
// messages are acted on once.

const schema = z.object({ since: z.string(), read: z.record(z.string(), z.string()) });

export interface Cursors {
  /** The last message that was read; for an unknown channel, the time of the first run. */
  get(channelId: string): string;
  isRead(channelId: string, messageId: string): boolean;
  /** Durable when it returns. */
  advance(channelId: string, messageId: string): void;
  forget(channelId: string): void;
  channels(): readonly string[];
  /** Forgets channels in which nothing was written for a long time: all that is older counts as read everywhere. */
  sweep(now?: number): void;
}

/** A message is typed within a day or never. */
const CURSORS_KEPT_MS = 30 * 86_400_000;

/** `now`: by the server's clock, like the ids of messages. */
export function openCursors(path: string, now = Date.now()): Cursors {
  const stored = readJson(path, schema);
  let since = stored?.since ?? snowflakeAt(now);
  const read = new Map(Object.entries(stored?.read ?? {}));
  if (stored === undefined) writeJson(path, { since, read: {} });
  const get = (channelId: string) => read.get(channelId) ?? newest(since, channelId);
  return {
    get,
    isRead: (channelId, messageId) => !isNewer(messageId, get(channelId)),
    advance(channelId, messageId) {
      if (!isNewer(messageId, get(channelId))) return;
      // Written first: a message is acted on only if a restart would not act on it again.
      writeJson(path, { since, read: { ...Object.fromEntries(read), [channelId]: messageId } });
      cancelPendingWrite(path);
      read.set(channelId, messageId);
    },
    forget(channelId) {
      if (read.delete(channelId)) writeBestEffort(path, { since, read: Object.fromEntries(read) });
    },
    channels: () => [...read.keys()],
    sweep(now = Date.now()) {
      const old = [...read].filter(([, last]) => now - snowflakeTime(last) > CURSORS_KEPT_MS);
      if (old.length === 0) return;
      since = newest(since, ...old.map(([, last]) => last));
      for (const [channelId] of old) read.delete(channelId);
      writeBestEffort(path, { since, read: Object.fromEntries(read) });
    },
  };
}
