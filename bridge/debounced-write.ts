// Writes the newest value a moment after it came, so that a burst of values is one write. What is
// lost when the process is killed in between is only ever repeated, never skipped. A full disk is waited for.

import { tryBestEffort } from '../home/whole-file.ts';

interface DebouncedWrite<T> {
  set(value: T): void;
  /** Writes what is still due. */
  flush(): void;
}

const RETRY_MS = 2_000;

export function createDebouncedWrite<T>(
  write: (value: T) => void,
  delayMs: number,
  what = 'the state of the bridge',
): DebouncedWrite<T> {
  let due: { readonly value: T } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const now = due;
    if (now === undefined) return;
    if (tryBestEffort(what, () => write(now.value))) due = undefined;
    else timer = setTimeout(flush, Math.max(delayMs, RETRY_MS)).unref();
  };
  const inTime = () => {
    const last = due;
    try {
      flush();
    } catch {
      due = last; // the disk is full or no file descriptor is left: tried again, until there is room
      timer ??= setTimeout(inTime, delayMs);
    }
  };
  return {
    set(value) {
      due = { value };
      timer ??= setTimeout(inTime, delayMs);
    },
    flush,
  };
}
