// The difference between two texts as one replaced piece: an edit that adds a line is kept as that line.

/** Where it begins, how many characters go, and what comes in their place. */
export type Splice = readonly [start: number, removed: number, added: string];

export function spliceBetween(before: string, after: string): Splice {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [start, before.length - start - end, after.slice(start, after.length - end)];
}

export function spliced(before: string, [start, removed, added]: Splice): string {
  return before.slice(0, start) + added + before.slice(start + removed);
}
