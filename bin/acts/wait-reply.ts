// Waits for a session and reads its reply.

import type { SessionFinder, SessionTarget } from '../find-session.ts';
import { lastReply } from './last-reply.ts';
import { type WaitResult, waitForSession } from './wait-session.ts';

export interface WaitedReply extends WaitResult {
  /** Null if there is none, or the agent has not finished. */
  readonly reply: string | null;
}

/** The transcript may be written a moment after the end of the turn. */
const SETTLE_MS = 1_500;

export async function waitForReply(
  target: SessionTarget,
  reach: SessionFinder,
  options: Parameters<typeof waitForSession>[2],
): Promise<WaitedReply> {
  const waited = await waitForSession(target, reach, options);
  const isOver = waited.state === 'idle' || waited.state === 'ended';
  const reply = isOver ? await lastReply(target, reach, SETTLE_MS) : undefined;
  return { ...waited, reply: reply?.text ?? null };
}
