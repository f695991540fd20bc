// What must be shown is tried until it works, or cannot: a server that is away comes back.

import { setTimeout as sleep } from 'node:timers/promises';
import { isThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

export interface Trying {
  readonly thread: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

export async function untilShown(show: () => Promise<unknown>, trying: Trying): Promise<void> {
  const { thread, log, signal } = trying;
  for (
    let waitMs = FIRST_WAIT_MS;
    !signal.aborted;
    waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
  ) {
    try {
      await show();
      return;
    } catch (error) {
      log.warn('showing what an agent said', { thread, because: (error as Error).message });
      if (!isThreadmuxError(error, 'discord_unreachable')) return;
    }
    await pause(waitMs, signal);
  }
}

/** Cut short when it is over. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(ms, 0), undefined, { signal }).catch(() => {});
}
