// Receipts: which typed messages a submitted prompt was. Pure. A prompt is matched by its words: the agent replaces the
// path of an image with a mark of its own, and trims what it gets.

import type { DeliveryRecord, ThreadRecord } from './thread-record.ts';

/** Deliveries kept per thread: a receipt that comes late still finds its message. */
const KEPT = 200;
const KEPT_MS = 25 * 3_600_000;

export function withDelivery(record: ThreadRecord, delivery: DeliveryRecord): readonly DeliveryRecord[] {
  const others = record.deliveries.filter((one) => one.message !== delivery.message);
  return [...others.filter(({ at }) => delivery.at - at < KEPT_MS), delivery].slice(-KEPT);
}

export interface ConfirmedDelivery {
  readonly deliveries: readonly DeliveryRecord[];
  /** The ids of those that the prompts were, each the oldest that fits. */
  readonly ids: readonly string[];
}

/** The letter that tells of submitted prompts, and when it was written. */
export interface ReceiptLetter {
  readonly id: string;
  readonly writtenAt: number;
}

/** A prompt was submitted. The same letter confirms nothing twice. */
export function confirmedBy(
  deliveries: readonly DeliveryRecord[],
  prompts: readonly string[],
  letter: ReceiptLetter,
): ConfirmedDelivery {
  if (deliveries.some(({ receipt }) => receipt === letter.id)) return { ids: [], deliveries };
  return matched(deliveries, prompts, letter, Number.POSITIVE_INFINITY);
}

/**
 * A turn ended that answered these prompts. Some were read between two tools, with no hook of their own; those that had
 * one, since the last turn ended at `since`, are counted off first.
 */
export function confirmedByTurn(
  deliveries: readonly DeliveryRecord[],
  prompts: readonly string[],
  letter: ReceiptLetter,
  since: number,
): ConfirmedDelivery {
  return matched(deliveries, prompts, letter, since);
}

function matched(
  deliveries: readonly DeliveryRecord[],
  prompts: readonly string[],
  letter: ReceiptLetter,
  since: number,
): ConfirmedDelivery {
  const open = deliveries.filter(({ state, submittedAt }) => state !== 'submitted' || submittedAt > since);
  const ids = prompts.flatMap((prompt) => {
    const at = open.findIndex((delivery) => isSame(delivery, prompt));
    const [found] = at < 0 ? [] : open.splice(at, 1);
    return found === undefined || found.state === 'submitted' ? [] : [found.id];
  });
  const confirmed = (one: DeliveryRecord): DeliveryRecord =>
    ids.includes(one.id) ? { ...one, state: 'submitted', receipt: letter.id, submittedAt: letter.writtenAt } : one;
  return { ids, deliveries: deliveries.map(confirmed) };
}

const IMAGE = /\[Image #\d{1,4}\]/;

function isSame({ words, paths }: DeliveryRecord, prompt: string): boolean {
  if (paths.length === 0) return folded(prompt) === folded(words);
  const rest = paths.reduce((text, path) => text.replaceAll(path, ' '), prompt).split(IMAGE);
  const hasFile = rest.length > 1 || rest[0] !== prompt;
  return hasFile && folded(rest.join(' ')) === folded(words.split(IMAGE).join(' '));
}

function folded(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ');
}
