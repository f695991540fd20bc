// What a terminal needs of Discord and of the disk is tried until it works: both come back. Only a thread that is gone
// does not, and what Discord refuses for good is not asked for without end.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain, isThreadmuxError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import {
  MISSING_ACCESS,
  MISSING_PERMISSIONS,
  THREAD_ARCHIVED,
  THREAD_LOCKED,
  TOO_MANY_EDITS_OF_OLD_MESSAGE,
  UNKNOWN_CHANNEL,
} from '../../discord/error-codes.ts';
import { refusedWith } from '../../discord/messages.ts';

/** `instead` is what is done when Discord has refused it for good. What is tried must be repeatable. */
export type RetryLimit = <T>(act: () => Promise<T> | T, instead?: () => Promise<T> | T) => Promise<T>;

interface RetryLimitOptions {
  readonly thread: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly retryMs?: number | undefined;
  /** How long to wait for a permission that lacks. */
  readonly lackingMs?: number | undefined;
}

const RETRY_MS = 5000;
const LACKING_MS = 30_000;
/** So often something is asked for before a refusal counts. */
export const TRIES = 3;

/** Permissions that lack, and a thread that is locked: somebody may change that. */
const LACKING = [MISSING_ACCESS, MISSING_PERMISSIONS, THREAD_LOCKED];
/** An archived thread, and a message that was edited too often: whoever shows it knows what to do. */
const CURABLE = [THREAD_ARCHIVED, TOO_MANY_EDITS_OF_OLD_MESSAGE];

/** Code 0 is not Discord's own word, but a proxy's. */
export function refusedForGood(error: unknown): boolean {
  return (
    isThreadmuxError(error, 'discord_refused') &&
    error.answer !== undefined &&
    ![0, UNKNOWN_CHANNEL, ...LACKING, ...CURABLE].includes(error.answer.code)
  );
}

/** Discord and the disk. Anything else fails the same way every time. */
function comesBack(error: unknown): boolean {
  return isThreadmuxError(error) || typeof (error as NodeJS.ErrnoException).errno === 'number';
}

export function createRetryLimit(options: RetryLimitOptions): RetryLimit {
  const { thread, log, signal, retryMs = RETRY_MS, lackingMs = LACKING_MS } = options;
  return async (act, instead) => {
    for (let refusals = 0; ; ) {
      try {
        return await act();
      } catch (error) {
        if (signal.aborted || refusedWith(error, UNKNOWN_CHANNEL) || !comesBack(error)) throw error;
        log.warn('a terminal could not be shown', { thread, because: explain(error) });
        if (refusedForGood(error)) refusals++;
        if (refusals >= TRIES && instead !== undefined) return instead();
        const waitMs = refusedWith(error, ...LACKING) ? lackingMs : retryMs;
        await sleep(waitMs, undefined, { signal });
      }
    }
  };
}
