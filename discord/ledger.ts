// Which events were received and not yet handled. Events may finish in any order; what is saved
// is the last one before the first that is still open, so that nothing is ever skipped.

import type { Session } from './gateway-state.ts';

interface Ledger {
  /** Opens an entry for one event; call what it gives when the event was handled. */
  open(at: Session): () => void;
}

interface Entry {
  readonly at: Session;
  done: boolean;
}

export function createLedger(save: (session: Session) => void): Ledger {
  const entries: Entry[] = [];
  return {
    open(at) {
      const entry: Entry = { at, done: false };
      entries.push(entry);
      return () => {
        entry.done = true;
        let handled: Session | undefined;
        while (entries[0]?.done) handled = entries.shift()?.at;
        if (handled !== undefined) save(handled);
      };
    },
  };
}
