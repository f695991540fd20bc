// The usage limit that stopped the agent of a thread, as the registry keeps it, and what is said about it. Pure.

import * as z from 'zod';
import type { Project } from '../core/project.ts';
import { fullTime, localZone } from '../core/zoned-time.ts';
import { button, type ComponentRow, row } from '../discord/messages.ts';

export const limitSchema = z.object({
  /** The letter that reported it. */
  letter: z.string(),
  at: z.number(),
  resetsAt: z.number(),
  /** `told`: nothing waits. `held`: messages wait for the reset. `over`: the agent has gone on, or "continue" was sent. */
  state: z.enum(['told', 'held', 'cancelled', 'over']),
  /** A user wrote since then, so "continue" is not sent in their place. */
  wrote: z.boolean().default(false),
  /** "continue" was sent for this limit. */
  sent: z.boolean().default(false),
});
export type LimitRecord = Readonly<z.output<typeof limitSchema>>;

/** Versions of Claude Code that continue by themselves do so up to 90 seconds after the reset, and must come first. */
const MARGIN_MS = 120_000;
/** Two reports of one limit state nearly the same time. */
const SAME_MS = 5 * 60_000;

interface ReachedLimit extends Pick<LimitRecord, 'letter' | 'at' | 'resetsAt'> {
  readonly onLimit: Project['onLimit'];
}

export function reachedLimit(before: LimitRecord | undefined, { onLimit, ...limit }: ReachedLimit): LimitRecord {
  const isSame = before !== undefined && Math.abs(before.resetsAt - limit.resetsAt) < SAME_MS;
  const isHeld = onLimit !== 'tell' && freeAt(limit) > limit.at;
  const kept = isSame && before.state === 'cancelled' ? before.state : undefined;
  return {
    ...limit,
    state: kept ?? (isHeld ? 'held' : 'told'),
    wrote: isSame && before.wrote,
    sent: isSame && before.sent,
  };
}

/** A prompt was submitted, or a turn has ended. */
export function afterTurn(limit: LimitRecord | undefined, at: number): LimitRecord | undefined {
  if (limit === undefined || at <= limit.at || limit.state === 'cancelled') return limit;
  return { ...limit, state: 'over' };
}

/** When messages are typed again. */
export function freeAt({ resetsAt }: Pick<LimitRecord, 'resetsAt'>): number {
  return resetsAt + MARGIN_MS;
}

export function isHeld(limit: LimitRecord | undefined, now: number): limit is LimitRecord {
  return limit?.state === 'held' && now < freeAt(limit);
}

/** Whether "continue" is sent at the reset. */
export function mayContinue(limit: LimitRecord | undefined): limit is LimitRecord {
  return limit?.state === 'held' && !limit.wrote && !limit.sent;
}

export const LIMIT_BUTTON = 'limit';

export function limitNotice(
  limit: LimitRecord,
  onLimit: Project['onLimit'],
): { readonly text: string; readonly components: readonly ComponentRow[] } {
  const resets = `It resets on ${fullTime(limit.resetsAt, localZone())}.`;
  if (limit.state !== 'held') return { text: resets, components: [] };
  const continues = onLimit === 'continue' && mayContinue(limit);
  const waits = `Messages in this thread wait until then${continues ? ', and the agent is told to continue' : ''}.`;
  return { text: `${resets} ${waits}`, components: [row(button('Cancel', `${LIMIT_BUTTON}:${limit.letter}`))] };
}
