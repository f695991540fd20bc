// The messages of one channel, oldest first, by id. Paging follows Discord's rules exactly.

import { snowflakeAt } from '../../core/snowflake.ts';

interface Page {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly around?: string | undefined;
  readonly limit: number;
}

export function findById<T extends { readonly id: string }>(sorted: readonly T[], id: string): T | undefined {
  const found = sorted[firstNotBelow(sorted, id)];
  return found?.id === id ? found : undefined;
}

/** Inserts it by its id; true if it is new. */
export function putById<T extends { readonly id: string }>(sorted: T[], item: T): boolean {
  const index = firstNotBelow(sorted, item.id);
  const isNew = sorted[index]?.id !== item.id;
  sorted.splice(index, isNew ? 0 : 1, item);
  return isNew;
}

export function removeById<T extends { readonly id: string }>(sorted: T[], id: string): void {
  const index = firstNotBelow(sorted, id);
  if (sorted[index]?.id === id) sorted.splice(index, 1);
}

/** Newest first. `after` returns the oldest ones that follow, `around` half on each side and the message itself. */
export function pageOf<T extends { readonly id: string }>(sorted: readonly T[], page: Page): T[] {
  const { before, after, around, limit } = page;
  if (after !== undefined) {
    const start = firstNotBelow(sorted, String(BigInt(after) + 1n));
    return sorted.slice(start, start + limit).reverse();
  }
  if (around !== undefined) {
    const middle = firstNotBelow(sorted, around);
    const older = Math.floor(limit / 2);
    const start = Math.max(0, middle - older);
    return sorted.slice(start, middle + Math.max(1, limit - older)).reverse();
  }
  const end = before === undefined ? sorted.length : firstNotBelow(sorted, before);
  return sorted.slice(Math.max(0, end - limit), end).reverse();
}

function firstNotBelow(sorted: readonly { readonly id: string }[], id: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareSnowflakes(sorted[middle]?.id ?? '', id) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Ids that look and sort like Discord's. They always increase, also within one millisecond and after a restart.

/** Creates ids above `lastUsed`, even if the clock stops or goes back. */
export function makeSnowflakes(lastUsed = '0', now: () => number = Date.now): () => string {
  let last = BigInt(lastUsed);
  return () => {
    const fresh = BigInt(snowflakeAt(now()));
    last = fresh > last ? fresh : last + 1n;
    return String(last);
  };
}

export function isSnowflake(text: string): boolean {
  return /^[1-9]\d{0,19}$/.test(text) && BigInt(text) < 1n << 64n;
}

/** Compares two ids without creating big integers: the longer number is larger. */
export function compareSnowflakes(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
