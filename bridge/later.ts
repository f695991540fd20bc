// Writes the newest value a moment after it came, so that a burst of values is one write. What is
// lost when the process is killed in between is only ever repeated, never skipped.

export interface Later<T> {
  set(value: T): void;
  /** Writes what is still due. */
  flush(): void;
}

export function createLater<T>(write: (value: T) => void, delayMs: number): Later<T> {
  let due: { readonly value: T } | undefined;
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (due !== undefined) write(due.value);
    due = undefined;
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
