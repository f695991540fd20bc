import { expect, it } from 'vitest';
import { createLastEnds } from '../../threads/last-ends.ts';

it.each([
  ['written before the end', -60_000, true],
  ['written a moment after the end, however late it comes', 2_900, true],
  ['written later', 3_100, false],
])('a text that was %s', (_, afterMs, isJustBefore) => {
  const ends = createLastEnds();
  ends.note('1');
  const at = performance.now() + afterMs;
  expect(ends.isJustBefore('1', at)).toBe(isJustBefore);
  expect(ends.isJustBefore('2', at)).toBe(false);
});
