// Sends a text to a session and waits for its reply; also to a session that was just started.

import { setTimeout as sleep } from 'node:timers/promises';
import { recordNow, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { type Submitted, submitText } from './submit-text.ts';
import type { TypingPatience } from './type-text.ts';
import { type WaitedReply, waitForReply } from './wait-session.ts';

interface SendRules extends TypingPatience {
  readonly timeoutMs: number;
}

export async function sendAndWait(
  target: SessionTarget,
  text: string,
  finder: SessionFinder,
  { timeoutMs, ...rules }: SendRules,
): Promise<WaitedReply> {
  const deadline = Date.now() + timeoutMs;
  const { at } = await submitText(target, text, finder, { ...rules, confirmMs: timeoutMs, mayQueue: false });
  return waitForReply(target, finder, { timeoutMs: deadline - Date.now(), since: at });
}

const STARTS_WITHIN_MS = 60_000;
const REPORTS_WITHIN_MS = 15_000;
const LOOK_MS = 100;

/**
 * For a session that was just started: waits until its agent takes a text. `dialogMs`: how long a person may take to answer a question at
 * the start, such as whether to trust the folder.
 */
export async function submitFirst(
  target: SessionTarget,
  text: string,
  finder: SessionFinder,
  dialogMs: number,
): Promise<Submitted> {
  const reported = await untilReported(target, finder);
  const waits = {
    waitMs: Math.max(STARTS_WITHIN_MS, dialogMs),
    dialogMs,
    confirmMs: STARTS_WITHIN_MS,
    mayQueue: false,
  };
  return submitText(reported, text, finder, { ...waits, allowShell: false });
}

/** The receipt comes from its hooks. An agent that has none is recognised by its screen. */
async function untilReported(target: SessionTarget, { home }: SessionFinder): Promise<SessionTarget> {
  for (const deadline = Date.now() + REPORTS_WITHIN_MS; ; await sleep(LOOK_MS)) {
    const record = recordNow(home, target);
    if (record !== undefined && record.claudeSession !== '') return { ...target, record };
    if (Date.now() > deadline) return record === undefined ? target : { ...target, record };
  }
}
