// One at a time for each key, in the order of the calls. A failure does not hold up the next.

export type InTurn = <T>(key: string, act: () => Promise<T>) => Promise<T>;

export function createInTurn(): InTurn {
  const tails = new Map<string, Promise<unknown>>();
  return (key, act) => {
    const turn = (tails.get(key) ?? Promise.resolve()).then(act);
    const tail = turn
      .catch(() => {}) // whoever called hears of it; the queue goes on
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return turn;
  };
}
