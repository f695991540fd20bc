// Orders of the command line and of programs, for the process that posts: open or archive a thread, post something, ask a question.
// An order waits in the outbox like a letter, so that only the process with the courier's lock executes it, after the letters before it.

import { join } from 'node:path';
import * as z from 'zod';
import { parseForeignJson } from '../core/json.ts';
import type { Home } from '../home/home.ts';
import { threadRecordSchema } from '../threads/registry.ts';

const sessionSchema = threadRecordSchema
  .pick({ host: true, socket: true, serverPid: true, paneId: true, panePid: true })
  .extend(threadRecordSchema.pick({ sessionId: true, sessionName: true, group: true, command: true }).shape)
  .extend({ path: z.string() });

const common = {
  /** The name of the file for its outcome. */
  id: z.string().regex(/^[0-9a-f]{32}$/),
  session: sessionSchema.transform((session) => ({ ...session, group: session.group })),
};

const orderSchema = z.discriminatedUnion('order', [
  z.object({ ...common, order: z.enum(['open', 'close']) }),
  z.object({
    ...common,
    order: z.literal('post'),
    at: z.number(),
    text: z.string(),
    /** Files of the session's project, as absolute paths. */
    paths: z.array(z.string()).readonly(),
    /** A text that is attached as a file. */
    attached: z.object({ name: z.string(), text: z.string() }).optional(),
    silent: z.boolean(),
  }),
  z.object({
    ...common,
    order: z.literal('ask'),
    at: z.number(),
    question: z.string(),
    /** Empty for an answer in the person's own words. */
    options: z.array(z.string()).readonly(),
    seconds: z.number(),
    /** The process that waits for the answer. */
    asker: z.number(),
  }),
]);
export type Order = Readonly<z.output<typeof orderSchema>>;
export type ThreadOrder = Extract<Order, { order: 'open' | 'close' }>;
export type PostOrder = Extract<Order, { order: 'post' }>;
export type AskOrder = Extract<Order, { order: 'ask' }>;

export const orderOutcomeSchema = z.object({
  outcome: z.enum(['opened', 'closed', 'posted', 'asked', 'none', 'nowhere', 'refused']),
  thread: z.string().nullable(),
  because: z.string().default(''),
});
export type OrderOutcome = Readonly<z.output<typeof orderOutcomeSchema>>;

export function parseOrder(json: string): Order {
  return orderSchema.parse(parseForeignJson(json));
}

export function orderLetter(order: Order): string {
  return `threadmux 2\norder ${order.order}\n\n${JSON.stringify(order)}\n`;
}

/** Where the process that gave an order reads its outcome. */
export function outcomePath(home: Home, { id }: Pick<Order, 'id'>): string {
  return join(home.folder('answers'), `${id}.order`);
}
