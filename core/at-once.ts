// Runs at most so many acts at the same time; the others wait for their turn, in order.

export type AtOnce = <T>(act: () => Promise<T>) => Promise<T>;

export function createAtOnce(most: number): AtOnce & { isFull(): boolean } {
  const waiting: (() => void)[] = [];
  let running = 0;
  const inTurn: AtOnce = async (act) => {
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
