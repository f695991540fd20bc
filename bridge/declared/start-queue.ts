// Starts under way: one at a time per session, and a few at a time per host.

import { createKeyedQueue } from '../../core/keyed-queue.ts';

interface StartQueue {
  /** Begins after the start of this session that is under way. */
  once<T>(key: string, act: () => Promise<T>): Promise<T>;
  /** Also waits for its turn on its host. The next one may begin when `runs` is called: its thread can be created later. */
  inTurn<T>(key: string, host: string, act: (runs: () => void) => Promise<T>): Promise<T>;
  isStarting(key: string): boolean;
  /** A look that began before this time may not have seen it. */
  lastStart(key: string): number;
  settled(): Promise<unknown>;
}

const LANES = 6;

export function createStartQueue(changed: () => void): StartQueue {
  const starting = new Map<string, Promise<unknown>>();
  const ended = new Map<string, number>();
  const inLane = createKeyedQueue();
  let lane = 0;

  async function once<T>(key: string, act: () => Promise<T>): Promise<T> {
    const begun = (starting.get(key) ?? Promise.resolve()).catch(() => {}).then(act);
    starting.set(key, begun);
    changed();
    try {
      return await begun;
    } finally {
      if (starting.get(key) === begun) starting.delete(key);
      ended.set(key, Date.now());
      changed();
    }
  }

  return {
    once,
    inTurn: (key, host, act) =>
      once(
        key,
        () =>
          new Promise((done, failed) => {
            const turn = () => new Promise<void>((free) => void act(free).then(done, failed).finally(free));
            void inLane(`${host} ${lane++ % LANES}`, turn);
          }),
      ),
    isStarting: (key) => starting.has(key),
    lastStart: (key) => ended.get(key) ?? 0,
    settled: () => Promise.allSettled(starting.values()),
  };
}
