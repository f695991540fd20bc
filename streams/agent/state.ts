// What an agent must remember after a restart: its conversation, the running turn and the finished prompts. A prompt that is
// delivered again never runs twice.

import { join } from 'node:path';
import * as z from 'zod';
import { byAge, isNewer } from '../../core/snowflake.ts';
import { readJson, writeBestEffort } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { streamFolder } from '../../home/stream-record.ts';

const stateSchema = z.object({
  /** Claude Code's session id, for `--resume`. */
  session: z.string().optional(),
  /** The prompt whose turn is running. */
  running: z.string().optional(),
  /** The newest finished prompts, oldest first. A prompt is delivered again if the sender was killed before it saved the result. */
  over: z.array(z.object({ id: z.string(), kind: z.enum(['done', 'failed', 'stopped', 'dropped']) })).default([]),
});
type AgentState = Readonly<z.output<typeof stateSchema>>;
type Over = AgentState['over'];

/** Prompts can arrive out of order, so an overtaken prompt must not count as finished. None is overtaken by this many. */
const REMEMBERED = 200;

interface StateFile {
  get(): AgentState;
  set(change: { readonly [K in keyof AgentState]?: AgentState[K] | undefined }): void;
}

export function openAgentState(home: Home, thread: string): StateFile {
  const path = join(streamFolder(home, thread), 'state.json');
  let state: AgentState = readJson(path, stateSchema) ?? { over: [] };
  return {
    get: () => state,
    set(change) {
      state = stateSchema.parse({ ...state, ...change });
      writeBestEffort(path, state);
    },
  };
}

export function withOver(over: Over, ...more: Over): Over {
  const ids = more.map(({ id }) => id);
  const others = over.filter(({ id }) => !ids.includes(id));
  return [...others, ...more].sort(byAge).slice(-REMEMBERED);
}

/** Undefined if it is not finished. For a prompt older than all remembered ones, only that it is finished. */
export function overAs(over: Over, id: string): Over[number]['kind'] | undefined {
  const known = over.find((one) => one.id === id);
  if (known !== undefined) return known.kind;
  const [oldest] = over;
  const isFull = over.length === REMEMBERED && oldest !== undefined;
  return isFull && isNewer(oldest.id, id) ? 'done' : undefined;
}

// A prompt that waits for its turn, and the promises of its caller.

export interface AgentPrompt {
  /** The id of the message: the same id is the same prompt, and runs once. */
  readonly id: string;
  readonly text: string;
  /** Called when its turn comes: why it must not run, or undefined. */
  readonly refusal?: () => string | undefined;
}

export interface FinishedTurn {
  readonly kind: 'done' | 'failed' | 'stopped' | 'dropped';
  readonly because?: string;
}

export interface AskedTurn {
  /** How many prompts run or wait before this one. */
  readonly before: number;
  /** Resolves when its turn has begun or will never begin. */
  readonly begun: Promise<void>;
  /** Stays pending when we close: the prompt is sent again after a restart. */
  readonly done: Promise<FinishedTurn>;
}

export interface AgentJob extends AgentPrompt {
  readonly begun: Promise<void>;
  readonly begin: () => void;
  readonly done: Promise<FinishedTurn>;
  readonly settle: (turn: FinishedTurn) => void;
}

export function createAgentJob(prompt: AgentPrompt): AgentJob {
  let begin = () => {};
  let settle = (_: FinishedTurn) => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const done = new Promise<FinishedTurn>((resolve) => {
    settle = (turn) => {
      begin();
      resolve(turn);
    };
  });
  return { ...prompt, begun, begin, done, settle };
}

/** For a prompt that is already finished. */
export function isTurnOver(turn: FinishedTurn): AskedTurn {
  return { before: 0, begun: Promise.resolve(), done: Promise.resolve(turn) };
}
