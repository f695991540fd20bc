// An order of the command line: opens or archives the thread of a session. It lies in the outbox like a letter, so that
// only the process that holds the courier's lock acts on it, after the letters in front of it.

import { join } from 'node:path';
import * as z from 'zod';
import { isThreadmuxError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import { writeJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import type { Threads } from '../threads/threads.ts';

const sessionSchema = z.object({
  host: z.string(),
  socket: z.string(),
  serverPid: z.number(),
  paneId: z.string(),
  panePid: z.number(),
  sessionId: z.string(),
  sessionName: z.string(),
  group: z.string().optional(),
  command: z.string(),
  path: z.string(),
});

const orderSchema = z.object({
  /** The name of the file that its outcome is written into. */
  id: z.string().regex(/^[0-9a-f]{32}$/),
  order: z.enum(['open', 'close']),
  session: sessionSchema.transform((session) => ({ ...session, group: session.group })),
});
export type ThreadOrder = Readonly<z.output<typeof orderSchema>>;

export const orderOutcomeSchema = z.object({
  outcome: z.enum(['opened', 'closed', 'none', 'nowhere', 'refused']),
  thread: z.string().nullable(),
  because: z.string().default(''),
});
export type OrderOutcome = Readonly<z.output<typeof orderOutcomeSchema>>;

export function parseOrder(json: string): ThreadOrder {
  return orderSchema.parse(parseJson(json));
}

export function orderLetter(order: ThreadOrder): string {
  return `threadmux 2\norder ${order.order}\n\n${JSON.stringify(order)}\n`;
}

/** Where the command line finds what became of its order. */
export function outcomePath(home: Home, { id }: Pick<ThreadOrder, 'id'>): string {
  return join(home.folder('answers'), `${id}.order`);
}

export async function obey(order: ThreadOrder, home: Home, threads: Threads): Promise<void> {
  const outcome = await act(order, threads).catch((error: unknown): OrderOutcome => {
    // What may work later is tried again; anything else must not hold up the letters behind it.
    const mayPass = ['discord_unreachable', 'host_unreachable'] as const;
    if (!isThreadmuxError(error) || mayPass.some((code) => isThreadmuxError(error, code)))
      throw error;
    return { outcome: 'refused', thread: null, because: error.message };
  });
  writeJson(outcomePath(home, order), outcome);
}

async function act({ order, session }: ThreadOrder, threads: Threads): Promise<OrderOutcome> {
  const known = threads.registry.ofSession(session.host, session);
  const isThere = known !== undefined && !known.deleted && known.server !== '';
  if (order === 'close') {
    if (!isThere) return { outcome: 'none', thread: null, because: '' };
    await threads.archive(known.thread);
    return { outcome: 'closed', thread: known.thread, because: '' };
  }
  if (isThere) await threads.reopen(known.thread);
  const record = isThere ? known : await threads.ensure(session, { directory: session.path });
  if (record === undefined) return { outcome: 'nowhere', thread: null, because: '' };
  return { outcome: 'opened', thread: record.thread, because: '' };
}
