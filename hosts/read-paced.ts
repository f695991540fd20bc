// Reads output that nobody needs in full, but not faster than so many bytes in a period: a host that floods the error output of a
// connection that stays open would otherwise keep us busy for ever. The rest waits on the host.

import type { Readable } from 'node:stream';

const MOST_BYTES = 4 * 2 ** 20;
const PERIOD_MS = 1_000;

export function readPaced(
  from: Readable,
  take: (chunk: Buffer) => void,
  { most = MOST_BYTES, periodMs = PERIOD_MS } = {},
): void {
  let bytes = 0;
  from.on('data', (chunk: Buffer) => {
    take(chunk);
    bytes += chunk.length;
    if (bytes < most) return;
    bytes = 0;
    from.pause();
    setTimeout(() => from.resume(), periodMs).unref();
  });
}
