// Ids are snowflakes: they hold the time, and their order is the order of time.

const EPOCH = 1420070400000n;

/** @param {string} a @param {string} b */
export function compareIds(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** @param {string | null | undefined} id */
export function timeOfId(id) {
  return id ? Number((BigInt(id) >> 22n) + EPOCH) : 0;
}

/** The id just before this one, to ask for "this one and what follows". @param {string} id */
export function justBefore(id) {
  return String(BigInt(id) - 1n);
}

export function newNonce() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
