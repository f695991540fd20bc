// Ids that look and sort like Discord's. They only ever grow, also within one millisecond and across restarts.

const EPOCH = 1_420_070_400_000n;

/** Makes ids above `lastUsed`, even when the clock stands still or goes back. */
export function makeSnowflakes(lastUsed = '0', now: () => number = Date.now): () => string {
  let last = BigInt(lastUsed);
  return () => {
    const fresh = (BigInt(now()) - EPOCH) << 22n;
    last = fresh > last ? fresh : last + 1n;
    return String(last);
  };
}

export function idTime(id: string): number {
  return Number((BigInt(id) >> 22n) + EPOCH);
}

export function isSnowflake(text: string): boolean {
  return /^[1-9]\d{0,19}$/.test(text) && BigInt(text) < 1n << 64n;
}

/** Order of two ids without making big integers: the longer number is the larger one. */
export function compareSnowflakes(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
