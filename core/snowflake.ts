// Discord ids contain the time of their creation. They are compared as numbers, never as strings.

import { createHash } from 'node:crypto';

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

// Nonces that keep a message from being posted twice: Discord ignores a message with the nonce of an earlier one
// (enforce_nonce). The nonce is a hash of what the message is about, so a retry after a crash has the same one.

/** Discord allows 25 characters; 22 of base64url hold 132 bits. */
export function stableNonce(...about: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(about)).digest('base64url').slice(0, 22);
}

const LONGEST_ID = 120;

/** An id from outside, as it is kept: a long one by its hash, because many are kept. */
export function shortId(id: string): string {
  return id.length <= LONGEST_ID ? id : stableNonce('long id', id);
}
