// The state and its journal, kept in step: a change is written down before it is made, and start-up makes them all again.

import { openJournal } from './journal.ts';
import { makeSnowflakes } from './new-snowflake.ts';
import {
  applyRecord,
  emptyState,
  leanRecord,
  recordSchema,
  type StoreRecord,
  snapshot,
  type WorkspaceState,
} from './store.ts';

export interface Memory {
  readonly state: WorkspaceState;
  nextId(): string;
  commit(...records: readonly StoreRecord[]): void;
  close(): void;
}

/** A journal is compacted when it is twice as large as it has to be, and this much more. */
const FLOOR_BYTES = 32 * 1024;

export function openMemory(path: string, log: (line: string) => void): Memory {
  const state = emptyState();
  let entries = 0;
  const replay = (entry: unknown) => {
    const record = recordSchema.safeParse(entry);
    entries++;
    if (record.success) applyRecord(state, record.data);
    else log('A line of the journal says nothing the workspace understands and was passed over.');
  };
  const journal = openJournal(path, replay, log);
  const needed = [...snapshot(state)].length / Math.max(1, entries);
  let compactAbove = limitFor(journal.size() * Math.min(1, needed));
  const compactIfLarge = () => {
    if (journal.size() <= compactAbove) return;
    compactAbove = Number.POSITIVE_INFINITY;
    // The messages themselves never change, so the list stays true while it is written.
    void journal.compact([...snapshot(state)]).then((bytes) => {
      compactAbove = limitFor(bytes ?? journal.size());
      compactIfLarge(); // much may have been appended meanwhile
    });
  };
  compactIfLarge();
  return {
    state,
    nextId: makeSnowflakes(state.lastId),
    commit(...records) {
      for (const record of records) {
        const lean = leanRecord(state, record);
        journal.append([lean]);
        applyRecord(state, lean);
      }
      compactIfLarge();
    },
    close: () => journal.close(),
  };
}

function limitFor(compactedBytes: number): number {
  return 2 * compactedBytes + FLOOR_BYTES;
}
