// Prompts that wait for an answer, one file each in prompts/. What was decided is written down here before it is acted
// on, so that a crash neither loses nor repeats a decision.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../../home/files.ts';
import type { Home } from '../../home/home.ts';

const bySchema = z.object({ id: z.string(), name: z.string() });
export type By = Readonly<z.output<typeof bySchema>>;

const decisionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('allow'), always: z.boolean() }),
  z.object({ kind: z.literal('deny'), reason: z.string() }),
  z.object({ kind: z.literal('answers'), answers: z.array(z.string()).readonly() }),
]);

export const endedSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('decided'), decision: decisionSchema, by: bySchema }),
  z.object({ kind: z.literal('answered') }),
  z.object({ kind: z.literal('exited') }),
  /** The agent has ended the hook: somebody pressed Esc, or it ends itself. */
  z.object({ kind: z.literal('called off') }),
  z.object({ kind: z.literal('time is up') }),
]);
/** How a prompt came to its end. */
export type Ended = Readonly<z.output<typeof endedSchema>>;

export const promptRecordSchema = z.object({
  /** Random, and known to nobody but the waiting hook, us and the buttons. */
  id: z.string().regex(/^[\w-]{22,32}$/),
  thread: z.string(),
  host: z.string(),
  headless: z.boolean(),
  /** Its message in the thread; empty until it was posted. */
  message: z.string().default(''),
  /** The input of the hook, as it came. */
  input: z.record(z.string(), z.unknown()),
  at: z.number(),
  chosen: z.array(z.string()).readonly().default([]),
  /** The taps and texts that were taken: after a crash none of them counts twice. */
  orders: z.array(z.string()).readonly().default([]),
  /** Written before the answer is given to the hook. */
  ended: endedSchema.optional(),
  /** The end was shown; kept for a while, for whoever asks what became of it. */
  shown: z.boolean().default(false),
});
export type PromptRecord = Readonly<z.output<typeof promptRecordSchema>>;

export function loadPromptRecords(home: Home): readonly PromptRecord[] {
  const folder = home.folder('prompts');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readJson(join(folder, name), promptRecordSchema) ?? []);
}
