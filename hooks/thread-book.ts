// Which thread a tmux session has, and the last message we posted there. Kept by the session's
// identity in tmux, so that a renamed session keeps its thread.

import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';

const boundSchema = z.object({
  server: z.string(),
  channel: z.string(),
  thread: z.string(),
  title: z.string(),
  /** Everything of ours up to this message is accounted for. */
  last: z.string(),
});
const bookSchema = z.object({ threads: z.record(z.string(), boundSchema) });

export type Bound = Readonly<z.output<typeof boundSchema>>;

export interface ThreadBook {
  get(session: string): Bound | undefined;
  set(session: string, bound: Bound): void;
  forget(session: string): void;
}

/** Sessions of servers long gone need not be remembered: their threads are found by name. */
const KEPT = 500;

export function openThreadBook(home: Home): ThreadBook {
  const path = join(home.folder('state'), 'threads.json');
  const threads = new Map<string, Bound>(Object.entries(readJson(path, bookSchema)?.threads ?? {}));
  const save = () => writeJson(path, { threads: Object.fromEntries(threads) });
  return {
    get: (session) => threads.get(session),
    set(session, bound) {
      threads.delete(session); // the most recently used are last
      threads.set(session, bound);
      for (const oldest of threads.keys()) {
        if (threads.size <= KEPT) break;
        threads.delete(oldest);
      }
      save();
    },
    forget(session) {
      if (threads.delete(session)) save();
    },
  };
}
