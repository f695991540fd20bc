// Receipts: which typed messages a submitted prompt was. Pure. A prompt is matched by its words: the agent replaces the
// path of an image with a mark of its own, and trims what it gets.

import type { Delivery, ThreadRecord } from './record.ts';

/** Deliveries kept per thread: a receipt that comes late still finds its message. */
const KEPT = 200;
const KEPT_MS = 25 * 3_600_000;

export function withDelivery(record: ThreadRecord, delivery: Delivery): readonly Delivery[] {
  const others = record.deliveries.filter((one) => one.message !== delivery.message);
  return [...others.filter(({ at }) => delivery.at - at < KEPT_MS), delivery].slice(-KEPT);
}

export interface Confirmed {
  readonly deliveries: readonly Delivery[];
  /** The ids of those that the prompts were, each the oldest that fits. */
  readonly ids: readonly string[];
}

export function confirmedBy(
  deliveries: readonly Delivery[],
  prompts: readonly string[],
  letter: string,
): Confirmed {
  if (deliveries.some(({ receipt }) => receipt === letter)) return { ids: [], deliveries };
  const open = deliveries.filter(({ state }) => state !== 'submitted');
  const ids = prompts.flatMap((prompt) => {
    const at = open.findIndex((delivery) => isSame(delivery, prompt));
    return at < 0 ? [] : open.splice(at, 1).map(({ id }) => id);
  });
  const confirmed = (one: Delivery): Delivery =>
    ids.includes(one.id) ? { ...one, state: 'submitted', receipt: letter } : one;
  return { ids, deliveries: deliveries.map(confirmed) };
}

const IMAGE = /\[Image #\d{1,4}\]/;

function isSame({ words, paths }: Delivery, prompt: string): boolean {
  if (paths.length === 0) return folded(prompt) === folded(words);
  const rest = paths.reduce((text, path) => text.replaceAll(path, ' '), prompt).split(IMAGE);
  const hasFile = rest.length > 1 || rest[0] !== prompt;
  return hasFile && folded(rest.join(' ')) === folded(words.split(IMAGE).join(' '));
}

function folded(text: string): string {
  return text.split(/\s+/).filter(Boolean).join(' ');
}
