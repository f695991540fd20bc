// How far each channel and thread was read, kept in state/cursors.json. Nothing written before the
// very first run is ever acted on; everything after it is, once.

import * as z from 'zod';
import { isNewer, newest, snowflakeAt } from '../core/snowflake.ts';
import { cancelPendingWrite, readJson, writeBestEffort, writeJson } from '../home/whole-file.ts';

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
