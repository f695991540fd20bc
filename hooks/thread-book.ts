// Which thread a tmux session has, and what we posted there of late. Kept by the session's identity
// in tmux, so that a renamed session keeps its thread.

import { join } from 'node:path';
import * as z from 'zod';
import { newest } from '../core/snowflake.ts';
import { readJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { keep } from '../home/keep.ts';

const postedSchema = z.object({
  letter: z.string(),
  pane: z.string(),
  messages: z.array(z.string()),
});
const boundSchema = z.object({
  server: z.string(),
  channel: z.string(),
  thread: z.string(),
  title: z.string(),
  /** No letter that is still to be posted has left anything up to this message. */
  last: z.string(),
  /** The last letters that were posted whole, oldest first. */
  posted: z.array(postedSchema).default([]),
});
const bookSchema = z.object({ threads: z.record(z.string(), boundSchema) });

export type Bound = Readonly<z.output<typeof boundSchema>>;
export type Posted = Readonly<z.output<typeof postedSchema>>;

export interface ThreadBook {
  get(session: string): Bound | undefined;
  set(session: string, bound: Bound): void;
}

/** Sessions of servers long gone need not be remembered: their threads are found by name. */
const KEPT = 500;
const LETTERS_KEPT = 10;

export function openThreadBook(home: Home): ThreadBook {
  const path = join(home.folder('state'), 'threads.json');
  const threads = new Map<string, Bound>(Object.entries(readJson(path, bookSchema)?.threads ?? {}));
  return {
    get: (session) => threads.get(session),
    set(session, bound) {
      threads.delete(session); // the most recently used are last
      threads.set(session, bound);
      for (const oldest of threads.keys()) {
        if (threads.size <= KEPT) break;
        threads.delete(oldest);
      }
      keep(path, { threads: Object.fromEntries(threads) });
    },
  };
}

/** The letter, its messages and how far its pane has come are one fact, written down at once. */
export function withPosted(bound: Bound, posted: Posted): Bound {
  const all = [...bound.posted, posted];
  const dropped = all.slice(0, -LETTERS_KEPT).flatMap(({ messages }) => messages);
  return { ...bound, last: newest(bound.last, ...dropped), posted: all.slice(-LETTERS_KEPT) };
}

/** The last message that is accounted for, as far as letters of this pane are concerned. */
export function lastOf(bound: Bound, pane: string): string {
  const own = bound.posted.filter((one) => one.pane === pane).flatMap(({ messages }) => messages);
  return newest(bound.last, bound.thread, ...own);
}
