// What an agent must know after a restart: the conversation it goes on with, the turn that runs, and what
// is over: nothing runs twice, whoever brings it again.

import { join } from 'node:path';
import * as z from 'zod';
import { byAge, isNewer } from '../../core/snowflake.ts';
import type { Home } from '../../home/home.ts';
import { streamFolder } from '../../home/stream-record.ts';
import { readJson, writeBestEffort } from '../../home/whole-file.ts';

const stateSchema = z.object({
  /** Claude Code's session id, for `--resume`. */
  session: z.string().optional(),
  /** The prompt whose turn runs. */
  running: z.string().optional(),
  /** The newest prompts that are over, oldest first: whoever brings one again was killed before they noted it. */
  over: z.array(z.object({ id: z.string(), kind: z.enum(['done', 'failed', 'stopped', 'dropped']) })).default([]),
});
type AgentState = Readonly<z.output<typeof stateSchema>>;
type Over = AgentState['over'];

/** Prompts do not always come in order: one that was overtaken must not count as over. By so many, none is. */
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

/** Undefined: it is not over. Of one that is older than all we remember, only that it is. */
export function overAs(over: Over, id: string): Over[number]['kind'] | undefined {
  const known = over.find((one) => one.id === id);
  if (known !== undefined) return known.kind;
  const [oldest] = over;
  const isFull = over.length === REMEMBERED && oldest !== undefined;
  return isFull && isNewer(oldest.id, id) ? 'done' : undefined;
}
