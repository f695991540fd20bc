// Retries until it works, with growing pauses. The caller decides after each failure whether to continue.

import { setTimeout as sleep } from 'node:timers/promises';

interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** The pause after so many failures in a row. It has a random part, so that many clients do not come back at the same moment. */
export function pauseMs(failures: number, pauses: Pauses, random = Math.random()): number {
  return Math.min(pauses.longestMs, pauses.firstMs * 2 ** (failures - 1)) * (0.5 + random / 2);
}

interface Trying extends Pauses {
  readonly signal?: AbortSignal | undefined;
  /** What it throws ends the trying. */
  onFailure(error: unknown, failures: number): void;
}

/** Rejects with the error of `onFailure`, or with the reason of the signal. `act` gets the number of failures so far. */
export async function keepTrying<T>(act: (failures: number) => Promise<T>, trying: Trying): Promise<T> {
  const { signal } = trying;
  for (let failures = 0; ; ) {
    try {
      return await act(failures);
    } catch (error) {
      signal?.throwIfAborted();
      failures++;
      trying.onFailure(error, failures);
      await sleep(pauseMs(failures, trying), undefined, { signal });
    }
  }
}
