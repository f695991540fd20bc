import { describe, expect, it } from 'vitest';
import { formatDuration } from '../../core/duration.ts';

describe('a duration', () => {
  it.each([
    [-5, '0 s'],
    [0, '0 s'],
    [12_400, '12 s'],
    [60_000, '1 min'],
    [185_000, '3 min 5 s'],
    [7_800_000, '2 h 10 min'],
    [7_201_000, '2 h'],
    [356_400_000, '4 d 3 h'],
  ])('of %i ms is %j', (ms, words) => {
    expect(formatDuration(ms)).toBe(words);
  });

  it('can be shown in one unit', () => {
    expect(formatDuration(185_000, 1)).toBe('3 min');
  });
});
