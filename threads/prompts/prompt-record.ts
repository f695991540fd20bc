// Prompts that wait for an answer, one file each in prompts/. A decision is stored here before it takes effect, so that a
// crash neither loses nor repeats it.

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type AskedEvent, parseAgentEvent } from '../../agents/event.ts';
import { decisionSchema, type Prompt, type PromptAnswer } from '../../core/prompt.ts';
import type { AnsweredOn } from '../../core/prompt-answer.ts';
import { cancelPendingWrite, readJson, removeBestEffort, writeBestEffort, writeJson } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { threadRecordSchema } from '../registry.ts';

const bySchema = z.object({ id: z.string(), name: z.string() });
type AnsweredBy = Readonly<z.output<typeof bySchema>>;

const promptEndSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('decided'), decision: decisionSchema, by: bySchema }),
  z.object({ kind: z.literal('answered') }),
  z.object({ kind: z.literal('exited') }),
  /** The agent has ended the hook, because someone pressed Esc or the agent exits. */
  z.object({ kind: z.literal('called off') }),
  z.object({ kind: z.literal('time is up') }),
  /** An answer was given, but the hook did not pass it to the agent, and the dialog is still open. */
  z.object({ kind: z.literal('not delivered') }),
  /** The hook is gone without an answer, and the dialog is still open. */
  z.object({ kind: z.literal('abandoned') }),
]);
/** How a prompt ended. */
export type PromptEnd = Readonly<z.output<typeof promptEndSchema>>;

const paneSchema = threadRecordSchema.pick({
  socket: true,
  serverPid: true,
  paneId: true,
  panePid: true,
  command: true,
});
export type PromptPane = Readonly<z.output<typeof paneSchema>>;

const promptRecordSchema = z.object({
  /** Random. Only the waiting hook, the buttons and threadmux know it. */
  id: z.string().regex(/^[\w-]{22,32}$/),
  thread: z.string(),
  host: z.string(),
  /** There is no dialog in a terminal. */
  headless: z.boolean(),
  /** The name of the agent that asks. */
  agent: z.string().default('claude'),
  /** The process that waits, on its host. */
  asker: z.number().default(0),
  /** The pane of its dialog; another pane of the session may also run an agent. */
  pane: paneSchema.optional(),
  /** Its message in the thread; empty until it is posted. */
  message: z.string().default(''),
  /** Discord refused the file that shows all of it. */
  tooLarge: z.boolean().default(false),
  /** What was asked, as `keptInput` leaves it. */
  input: z.record(z.string(), z.unknown()),
  at: z.number(),
  chosen: z.array(z.string()).readonly().default([]),
  /** The taps and texts that were used, so that none counts twice after a crash. */
  orders: z.array(z.string()).readonly().default([]),
  /** The tap or text that decided, if the hook did not take the answer. */
  undelivered: z.string().default(''),
  /** Written before the answer is given to the hook. */
  ended: promptEndSchema.optional(),
  /** The end was shown. Kept for a day, so that a late tap or text gets an answer. */
  shown: z.boolean().default(false),
});
export type PromptRecord = Readonly<z.output<typeof promptRecordSchema>>;

/** A prompt with what was asked. */
export interface OpenPrompt {
  record: PromptRecord;
  prompt: Prompt;
  readonly input: AskedEvent;
  /** Why the hook does not have the answer yet, in sentences for the user. */
  waitsBecause?: string;
}

/** A larger one was not written by us. The sweep removes it. */
const LARGEST_RECORD = 4 * 2 ** 20;
const LARGEST_INPUT = 2 ** 20;

export function loadPromptRecords(home: Home): readonly PromptRecord[] {
  const folder = home.folder('prompts');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name))
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) <= LARGEST_RECORD)
    .flatMap((path) => readJson(path, promptRecordSchema) ?? []);
}

/** It stays in memory while the prompt is open: what is too large is dropped, and can only be denied. */
export function keptInput(asked: AskedEvent): { input: AskedEvent; tooLarge: boolean } {
  if (Buffer.byteLength(JSON.stringify(asked)) <= LARGEST_INPUT) return { input: asked, tooLarge: false };
  const { event, session, transcript, cwd, turn, subagent, kind, tool, ask } = asked;
  const kept = { event, session, transcript, cwd, turn, subagent, kind, tool, ask };
  return { input: { ...kept, input: {}, questions: [] }, tooLarge: true };
}

/** Undefined if another version wrote it, or if the prompt is closed. */
export function inputOf({ input }: PromptRecord): AskedEvent | undefined {
  try {
    const event = parseAgentEvent(input);
    return event?.event === 'asked' ? event : undefined;
  } catch {
    return undefined;
  }
}

/** A tap or a text. */
export interface GivenAnswer {
  readonly prompt: string;
  readonly on: AnsweredOn;
  readonly answer: PromptAnswer;
  readonly by: AnsweredBy;
  /** The interaction or message it came with. */
  readonly order: string;
}

// Reads and writes the records of prompts.

export interface PromptFiles {
  read(id: string): PromptRecord | undefined;
  /** Stored before it takes effect. */
  save(one: OpenPrompt, to: Partial<PromptRecord>): void;
  /** Changes it in memory; the file follows when the disk has room. */
  note(one: OpenPrompt, to: Partial<PromptRecord>): void;
  remove(id: string): void;
}

export function createPromptFiles(home: Home): PromptFiles {
  const path = (id: string) => join(home.folder('prompts'), `${id}.json`);
  return {
    read: (id) => readJson(path(id), promptRecordSchema),
    save(one, to) {
      const record = { ...one.record, ...to };
      writeJson(path(record.id), record);
      cancelPendingWrite(path(record.id));
      one.record = record;
    },
    note(one, to) {
      one.record = { ...one.record, ...to };
      writeBestEffort(path(one.record.id), one.record);
    },
    remove: (id) => removeBestEffort(path(id)),
  };
}
