// Discord ids contain the time of their creation. They are compared as numbers, never as strings.

const EPOCH = 1_420_070_400_000n;

export function isDiscordId(text: string): boolean {
  return /^\d{15,20}$/.test(text);
}

export function snowflakeAt(ms: number): string {
  return String((BigInt(ms) - EPOCH) << 22n);
}

export function snowflakeTime(id: string): number {
  return Number((BigInt(id) >> 22n) + EPOCH);
}

export function isNewer(id: string, than: string): boolean {
  return BigInt(id) > BigInt(than);
}

export function newest(...ids: readonly string[]): string {
  return ids.reduce((best, id) => (isNewer(id, best) ? id : best));
}

/** For sorting, oldest first. */
export function byAge(a: { readonly id: string }, b: { readonly id: string }): number {
  return isNewer(a.id, b.id) ? 1 : -1;
}
