// Reads output of a host, but not faster than so many bytes in a period, and not for more than a fifth of our time: a host that floods a
// connection that stays open would otherwise keep us busy for ever. The rest waits on the host.

import type { Readable } from 'node:stream';

const MOST_BYTES = 4 * 2 ** 20;
const PERIOD_MS = 1_000;
/** Work that is too short to be followed by a pause. */
const LEAST_MS = 5;

export function readPaced(
  from: Readable,
  take: (chunk: Buffer) => void,
  { most = MOST_BYTES, periodMs = PERIOD_MS } = {},
): void {
  let bytes = 0;
  let spentMs = 0;
  from.on('data', (chunk: Buffer) => {
    const began = performance.now();
    take(chunk);
    spentMs += performance.now() - began;
    bytes += chunk.length;
    if (bytes < most && spentMs < LEAST_MS) return;
    const pauseMs = Math.max(4 * spentMs, bytes < most ? 0 : periodMs);
    bytes = 0;
    spentMs = 0;
    from.pause();
    setTimeout(() => from.resume(), pauseMs).unref();
  });
}
