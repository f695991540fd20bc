// Messages accepted and not yet done with, one file each. A message is here before anything is
// done about it and leaves when its outcome is known: a crash neither skips nor repeats it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { byAge } from '../core/snowflake.ts';
import { readJson, writeJson } from '../home/files.ts';
import { discard } from '../home/keep.ts';
import type { Cursors } from './cursors.ts';

export const letterSchema = z.object({
  id: z.string(),
  channelId: z.string(),
  authorId: z.string(),
  author: z.string(),
  /** Of an attempt that the person ordered anew; else the message's own id counts. */
  deliveryId: z.string().optional(),
  text: z.string(),
  /** The name of the server it was written on; others share the folder. */
  server: z.string().default(''),
  /** Of an order that was carried out: only this is still to be said. */
  answer: z.string().optional(),
  attachments: z.array(
    z.object({ id: z.string(), filename: z.string(), size: z.number(), url: z.string() }),
  ),
});
export type Accepted = Omit<z.output<typeof letterSchema>, 'server'>;

export interface Inbox {
  /** False if it was taken before. Durable when it returns. */
  take(message: Accepted): boolean;
  /** One that was taken before, to be done once more. */
  put(message: Accepted): void;
  done(id: string): void;
  /** What an earlier process left, oldest first. */
  left(): readonly Accepted[];
}

export function openInbox(folder: string, cursors: Cursors, server = ''): Inbox {
  const path = (id: string) => join(folder, `${id}.json`);
  return {
    take(message) {
      if (cursors.isRead(message.channelId, message.id)) return false;
      // First the message, then the cursor: between the two a crash repeats what is already here.
      writeJson(path(message.id), { ...message, server });
      cursors.advance(message.channelId, message.id);
      return true;
    },
    put: (message) => writeJson(path(message.id), { ...message, server }),
    done: (id) => discard(path(id)),
    left: () =>
      readdirSync(folder)
        .filter((name) => /^\d+\.json$/.test(name))
        .flatMap((name) => readJson(join(folder, name), letterSchema) ?? [])
        .filter((message) => message.server === server || message.server === '')
        .sort(byAge),
  };
}
