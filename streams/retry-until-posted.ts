// What must be shown is tried until it works, or cannot: a server that is away comes back.

import { setTimeout as sleep } from 'node:timers/promises';
import { isThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';

interface RetryUntilPostedOptions {
  readonly thread: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/** Resolves with the error if it was refused; when the signal comes, whatever became of it. */
export async function retryUntilPosted(
  show: () => Promise<unknown>,
  trying: RetryUntilPostedOptions,
): Promise<Error | undefined> {
  const { thread, log, signal } = trying;
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      await show();
      return undefined;
    } catch (error) {
      log.warn('showing what an agent said', { thread, because: (error as Error).message });
      if (!isPassing(error)) return error as Error;
    }
    await pause(waitMs, signal);
  }
  return undefined;
}

/** A token that is refused will be replaced: until then nothing is lost. */
function isPassing(error: unknown): boolean {
  return isThreadmuxError(error, 'discord_unreachable') || isThreadmuxError(error, 'discord_unauthorized');
}

/** Cut short when it is over. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.max(ms, 0), undefined, { signal }).catch(() => {});
}
