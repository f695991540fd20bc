// An order of the command line: open or archive the thread of a session. It waits in the outbox like a letter, so that only
// the process with the courier's lock executes it, after the letters before it.

import { join } from 'node:path';
import * as z from 'zod';
import { isThreadmuxError } from '../core/errors.ts';
import { parseJson } from '../core/json.ts';
import type { Home } from '../home/home.ts';
import { writeJson } from '../home/whole-file.ts';
import type { Threads } from '../threads/session-threads.ts';

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
  /** The name of the file for its outcome. */
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

/** Where the command line reads the outcome of its order. */
export function outcomePath(home: Home, { id }: Pick<ThreadOrder, 'id'>): string {
  return join(home.folder('answers'), `${id}.order`);
}

export async function carryOutOrder(order: ThreadOrder, home: Home, threads: Threads): Promise<void> {
  const outcome = await act(order, threads).catch((error: unknown): OrderOutcome => {
    // Temporary failures are retried; any other failure must not block the letters after it.
    const temporary = ['discord_unreachable', 'host_unreachable'] as const;
    if (!isThreadmuxError(error) || temporary.some((code) => isThreadmuxError(error, code))) throw error;
    return { outcome: 'refused', thread: null, because: error.message };
  });
  writeJson(outcomePath(home, order), outcome);
}

async function act({ order, session }: ThreadOrder, threads: Threads): Promise<OrderOutcome> {
  const known = threads.registry.ofSession(session.host, session);
  const exists = known !== undefined && !known.deleted && known.server !== '';
  if (order === 'close') {
    if (!exists) return { outcome: 'none', thread: null, because: '' };
    await threads.archive(known.thread);
    return { outcome: 'closed', thread: known.thread, because: '' };
  }
  if (exists) await threads.reopen(known.thread);
  const record = exists ? known : await threads.ensure(session, { directory: session.path });
  if (record === undefined) return { outcome: 'nowhere', thread: null, because: '' };
  return { outcome: 'opened', thread: record.thread, because: '' };
}
