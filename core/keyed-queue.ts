// Queues: one task at a time per key, in the order of the calls. A failed task does not stop the next one.

export type KeyedQueue = <T>(key: string, act: () => Promise<T>) => Promise<T>;

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>();
  return (key, act) => {
    const turn = (tails.get(key) ?? Promise.resolve()).then(act);
    const tail = turn
      .catch(() => {}) // the caller gets the error; the queue continues
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return turn;
  };
}

/** A run begins after the call that it answers: calls that come while one runs share the next one. */
export function createNextRun<T>(): (key: string, act: () => Promise<T>) => Promise<T> {
  const inTurn = createKeyedQueue();
  const next = new Map<string, Promise<T>>();
  return (key, act) => {
    const begin = () => {
      next.delete(key);
      return act();
    };
    const run = next.get(key) ?? inTurn(key, begin);
    next.set(key, run);
    return run;
  };
}

type ConcurrencyLimit = <T>(act: () => Promise<T>) => Promise<T>;

/** Runs at most so many acts at the same time; the others wait for their turn, in order. */
export function createConcurrencyLimit(most: number): ConcurrencyLimit & { isFull(): boolean } {
  const waiting: (() => void)[] = [];
  let running = 0;
  const inTurn: ConcurrencyLimit = async (act) => {
    if (running < most) running++;
    else await new Promise<void>((next) => waiting.push(next));
    try {
      return await act();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
  return Object.assign(inTurn, { isFull: () => running >= most });
}
