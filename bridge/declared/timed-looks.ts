// When each host is looked at: one look at a time per host, and the earliest request counts.

import { createKeyedQueue } from '../../core/keyed-queue.ts';

export function createTimedLooks(look: (host: string) => Promise<void>, failed: (host: string, error: Error) => void) {
  const inTurn = createKeyedQueue();
  const due = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  const looking = new Set<Promise<void>>();
  let isOpen = true;

  function run(host: string): void {
    due.delete(host);
    const looked = inTurn(host, () => look(host)).catch((error: Error) => failed(host, error));
    looking.add(looked);
    void looked.finally(() => looking.delete(looked));
  }

  return {
    in(host: string, ms: number): void {
      const at = Date.now() + ms;
      const before = due.get(host);
      if (!isOpen || (before !== undefined && before.at <= at)) return;
      clearTimeout(before?.timer);
      due.set(host, { at, timer: setTimeout(run, ms, host).unref() });
    },
    /** Resolves when the looks that have begun are over. No other begins. */
    close(): Promise<unknown> {
      isOpen = false;
      for (const { timer } of due.values()) clearTimeout(timer);
      return Promise.allSettled(looking);
    },
  };
}
