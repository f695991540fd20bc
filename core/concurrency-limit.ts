// Runs at most so many acts at the same time; the others wait for their turn, in order.

type ConcurrencyLimit = <T>(act: () => Promise<T>) => Promise<T>;

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
