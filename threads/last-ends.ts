// When a question of each thread ended last: a text that comes right after it may have been written for it.

interface LastEnds {
  note(thread: string): void;
  /** Whether one ended after this time (`performance.now`), or in the three seconds before it. */
  isJustBefore(thread: string, at: number): boolean;
}

const JUST_ENDED_MS = 3_000;

export function createLastEnds(): LastEnds {
  const endedAt = new Map<string, number>();
  return {
    note: (thread) => void endedAt.set(thread, performance.now()),
    isJustBefore: (thread, at) => at - (endedAt.get(thread) ?? Number.NEGATIVE_INFINITY) < JUST_ENDED_MS,
  };
}
