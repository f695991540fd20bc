// Formats a duration for people, with at most two units.

/** "12 s", "3 min 5 s", "2 h 10 min", "4 d 3 h"; with one unit "3 min". */
export function formatDuration(ms: number, unitCount = 2): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const;
  const first = units.findIndex(([, length]) => seconds >= length);
  let left = seconds;
  return units
    .slice(first, first + unitCount)
    .flatMap(([name, length]) => {
      const count = Math.floor(left / length);
      left -= count * length;
      return count === 0 ? [] : [`${count} ${name}`];
    })
    .join(' ');
}

// How far another machine's clock is off. The other clock reports whole seconds, read at some point between request and reply.

/** In milliseconds, positive if the other clock is ahead; 0 if the reported time can be right. */
export function clockDifference(shownMs: number, askedMs: number, answeredMs: number): number {
  if (shownMs + 999 < askedMs) return shownMs + 999 - askedMs;
  return shownMs > answeredMs ? shownMs - answeredMs : 0;
}
