// Discord forgets a repeated message if it carries the nonce of an earlier one (enforce_nonce).
// The nonce is made from what the message is about, so that a retry after a crash makes the same one.

import { createHash } from 'node:crypto';

/** At most 25 characters are allowed; 22 of base64url hold 132 bits. */
export function stableNonce(...about: readonly (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(about)).digest('base64url').slice(0, 22);
}
