// Requests of programs that only the bridge can carry out: start a session with its thread and worktree, a terminal or a headless agent.
// A request is a file in requests/, and its outcome a file in answers/: either side may be killed at any time.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { settingsSchema } from '../core/session-settings.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import type { Home } from '../home/home.ts';

const common = {
  id: z.string().regex(/^[0-9a-f]{32}$/),
  /** The process that waits for the outcome. */
  asker: z.number(),
};

const stream = {
  ...common,
  /** As the id of a message: newer requests have larger ones. */
  order: z.string().regex(/^\d+$/),
  directory: z.string(),
};

export const requestSchema = z.discriminatedUnion('what', [
  z.object({
    ...common,
    what: z.literal('start'),
    name: z.string(),
    host: z.string(),
    /** Undefined for where it ran before, or its project. */
    directory: z.string().optional(),
    settings: settingsSchema,
    continues: z.boolean(),
    /** Sessions that agents start are counted. */
    byAgent: z.boolean(),
  }),
  z.object({ ...stream, what: z.literal('terminal'), command: z.string() }),
  z.object({
    ...stream,
    what: z.literal('agent'),
    prompt: z.string(),
    skipPermissions: z.boolean(),
    agent: z.string().optional(),
  }),
]);
export type ProgramRequest = Readonly<z.output<typeof requestSchema>>;
export type StartRequest = Extract<ProgramRequest, { what: 'start' }>;

export const requestOutcomeSchema = z.union([
  z.object({
    done: z.object({
      name: z.string(),
      host: z.string(),
      thread: z.string().nullable(),
      created: z.boolean(),
      /** It runs; it asks a person something first; or it has not reported for a while. */
      is: z.enum(['up', 'asks', 'silent', 'there']),
      branch: z.string().nullable(),
    }),
  }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() }) }),
]);
export type RequestOutcome = Readonly<z.output<typeof requestOutcomeSchema>>;
export type RequestDone = Extract<RequestOutcome, { done: unknown }>['done'];

export function newRequestId(): string {
  return randomBytes(16).toString('hex');
}

/** Two requests of one millisecond must differ. */
export function newOrderId(): string {
  return String(BigInt(snowflakeAt(Date.now())) + BigInt(randomBytes(3).readUIntBE(0, 3) & 0x3fffff));
}

export function requestPath(home: Home, id: string): string {
  return join(home.folder('requests'), `${id}.json`);
}

export function requestOutcomePath(home: Home, id: string): string {
  return join(home.folder('answers'), `${id}.request`);
}
