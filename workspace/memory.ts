// The state and its journal, kept in step: a change is written down before it is made, and start-up makes them all again.

import { openJournal } from './journal.ts';
import { makeSnowflakes } from './snowflake.ts';
import {
  applyRecord,
  emptyState,
  recordSchema,
  type State,
  type StoreRecord,
  snapshot,
} from './store.ts';

export interface Memory {
  readonly state: State;
  nextId(): string;
  commit(...records: readonly StoreRecord[]): void;
  close(): void;
}

/** Below this a journal is not worth rewriting. */
const SMALL = 200;

export function openMemory(path: string, log: (line: string) => void): Memory {
  const journal = openJournal(path, log);
  const state = emptyState();
  for (const entry of journal.entries) {
    const record = recordSchema.safeParse(entry);
    if (record.success) applyRecord(state, record.data);
    else log('A line of the journal says nothing the workspace understands and was passed over.');
  }
  const live = [...snapshot(state)];
  if (journal.entries.length > SMALL && journal.entries.length > 2 * live.length)
    journal.rewrite(live);
  return {
    state,
    nextId: makeSnowflakes(state.lastId),
    commit(...records) {
      journal.append(records);
      for (const record of records) applyRecord(state, record);
    },
    close: () => journal.close(),
  };
}
