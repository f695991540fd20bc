// What an agent must know after a restart: the conversation it goes on with, and the turn that runs.

import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { streamFolder } from '../home/stream-record.ts';

const stateSchema = z.object({
  /** Claude Code's session id, for `--resume`. */
  session: z.string().optional(),
  /** The prompt whose turn runs. */
  running: z.string().optional(),
  /** The prompt whose turn was the last to end: whoever brings it again was killed before they noted it. */
  last: z.object({ id: z.string(), kind: z.enum(['done', 'failed', 'stopped']) }).optional(),
});
export type AgentState = Readonly<z.output<typeof stateSchema>>;

export interface StateFile {
  get(): AgentState;
  set(change: { readonly [K in keyof AgentState]?: AgentState[K] | undefined }): void;
}

export function openAgentState(home: Home, thread: string): StateFile {
  const path = join(streamFolder(home, thread), 'state.json');
  let state: AgentState = readJson(path, stateSchema) ?? {};
  return {
    get: () => state,
    set(change) {
      state = stateSchema.parse({ ...state, ...change });
      writeJson(path, state);
    },
  };
}
