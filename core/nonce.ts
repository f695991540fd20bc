// Nonces that keep a message from being posted twice: Discord ignores a message with the nonce of an earlier one
// (enforce_nonce). The nonce is a hash of what the message is about, so a retry after a crash has the same one.

import { createHash } from 'node:crypto';

/** Discord allows 25 characters; 22 of base64url hold 132 bits. */
export function stableNonce(...about: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(about)).digest('base64url').slice(0, 22);
}
