// Which events were received and not yet handled. Events may finish in any order; what is saved
// is the last one before the first that is still open, so that nothing is ever skipped.

import type { GatewaySession } from './gateway-state.ts';

interface HandledEvents {
  /** Opens an entry for one event; call what it gives when the event was handled. */
  open(at: GatewaySession): () => void;
}

interface Entry {
  readonly at: GatewaySession;
  done: boolean;
}

export function createHandledEvents(save: (session: GatewaySession) => void): HandledEvents {
  const entries: Entry[] = [];
  return {
    open(at) {
      const entry: Entry = { at, done: false };
      entries.push(entry);
      return () => {
        entry.done = true;
        let handled: GatewaySession | undefined;
        while (entries[0]?.done) handled = entries.shift()?.at;
        if (handled !== undefined) save(handled);
      };
    },
  };
}
