// How far another machine's clock is off. The other clock reports whole seconds, read at some point between request and reply.

/** In milliseconds, positive if the other clock is ahead; 0 if the reported time can be right. */
export function clockDifference(shownMs: number, askedMs: number, answeredMs: number): number {
  if (shownMs + 999 < askedMs) return shownMs + 999 - askedMs;
  return shownMs > answeredMs ? shownMs - answeredMs : 0;
}
