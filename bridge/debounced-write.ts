// Writes the newest value after a short delay, so that a burst of values is one write. If the process is killed before
// that, events are repeated, never skipped. On a full disk it tries again.

import { tryBestEffort } from '../home/atomic-write.ts';

const RETRY_MS = 2_000;

export function createDebouncedWrite<T>(write: (value: T) => void, delayMs: number) {
  let due: { readonly value: T } | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Writes a pending value now. */
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const now = due;
    if (now === undefined) return;
    if (tryBestEffort('the state of the bridge', () => write(now.value))) due = undefined;
    else timer = setTimeout(flush, Math.max(delayMs, RETRY_MS)).unref();
  };
  return {
    set(value: T): void {
      due = { value };
      timer ??= setTimeout(flush, delayMs);
    },
    flush,
  };
}
