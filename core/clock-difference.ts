// How far another clock is off, when all that is known is a whole second it showed between question and answer.

/** In milliseconds, positive if it is ahead; 0 if what it showed can be right. */
export function clockDifference(shownMs: number, askedMs: number, answeredMs: number): number {
  if (shownMs + 999 < askedMs) return shownMs + 999 - askedMs;
  return shownMs > answeredMs ? shownMs - answeredMs : 0;
}
