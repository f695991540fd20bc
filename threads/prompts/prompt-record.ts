// Prompts that wait for an answer, one file each in prompts/. A decision is stored here before it takes effect, so that a
// crash neither loses nor repeats it.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { type AskedEvent, parseAgentEvent } from '../../agents/event.ts';
import type { Log } from '../../core/log.ts';
import { decisionSchema, type Prompt, type PromptAnswer } from '../../core/prompt.ts';
import type { AnsweredOn } from '../../core/prompt-answer.ts';
import { cancelPendingWrite, readJson, removeBestEffort, writeBestEffort, writeJson } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { threadRecordSchema } from '../registry.ts';
import type { HookAnswers } from './hand-answer-to-hook.ts';
import type { PromptsOptions } from './locate.ts';

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

/** What an agent asks, as a prompt. */
export function promptOf({ kind, questions, always }: AskedEvent, tooLarge = false): Prompt {
  if (tooLarge) return { kind: 'too large' };
  if (kind === 'question' && questions.length > 0) return { kind, questions };
  if (kind === 'plan') return { kind };
  return { kind: 'permission', canAlways: always !== undefined };
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

export type PromptFiles = ReturnType<typeof createPromptFiles>;

export function createPromptFiles(home: Home) {
  const path = (id: string) => join(home.folder('prompts'), `${id}.json`);
  return {
    read: (id: string) => readJson(path(id), promptRecordSchema),
    /** Stored before it takes effect. */
    save(one: OpenPrompt, to: Partial<PromptRecord>): void {
      const record = { ...one.record, ...to };
      writeJson(path(record.id), record);
      cancelPendingWrite(path(record.id));
      one.record = record;
    },
    /** Changes it in memory; the file follows when the disk has room. */
    note(one: OpenPrompt, to: Partial<PromptRecord>): void {
      one.record = { ...one.record, ...to };
      writeBestEffort(path(one.record.id), one.record);
    },
    remove: (id: string) => removeBestEffort(path(id)),
  };
}

// Removes old records of prompts, and bells and answers of hooks that were killed.

interface SweepOptions extends Pick<PromptsOptions, 'home' | 'log' | 'sweepMs'> {
  readonly answers: HookAnswers;
  readonly isOpen: (id: string) => boolean;
}

const SWEEP_MS = 3_600_000;
const SWEEP_AFTER = 500; // prompts

export function startPromptSweeps({ home, log, answers, isOpen, sweepMs = SWEEP_MS }: SweepOptions) {
  const now = () => sweepPrompts(home, isOpen, answers, log);
  const timer = setInterval(now, sweepMs).unref();
  let count = 0;
  return {
    now,
    /** Called for each new prompt. */
    added() {
      if (++count % SWEEP_AFTER === 0) now();
    },
    close: () => clearInterval(timer),
  };
}

/** For this long, a late tap is told how the prompt ended. */
const RECORD_KEPT_MS = 24 * 3_600_000;
/** A host that asks again and again must not fill the disk, and all records are read at once. */
const MOST_RECORDS = 1_000;
const ANSWER_KEPT_MS = 3_600_000;

/** Removes old files that belong to no open prompt and no waiting hook. */
export function sweepPrompts(home: Home, isOpen: (id: string) => boolean, answers: HookAnswers, log: Log): void {
  const now = Date.now();
  const remove = ({ path }: { readonly path: string }) => rmSync(path, { force: true });
  try {
    filesIn(home.folder('prompts'))
      .filter(({ id }) => !isOpen(id))
      .sort((a, b) => b.at - a.at)
      .filter(({ at }, place) => place >= MOST_RECORDS || now - at > RECORD_KEPT_MS)
      .forEach(remove);
    filesIn(home.folder('answers'))
      .filter(({ id, at }) => now - at > ANSWER_KEPT_MS && !isOpen(id) && !answers.isWaiting(id))
      .forEach(remove);
  } catch (error) {
    log.warn('sweeping prompts', { because: (error as Error).message });
  }
}

function filesIn(folder: string) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return at === undefined ? [] : [{ id: name.split('.')[0] ?? '', path, at }];
  });
}
