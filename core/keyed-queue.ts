// A queue per key: runs one task at a time, in the order of the calls. A failed task does not stop the next one.

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
