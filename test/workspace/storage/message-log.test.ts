import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findById, makeSnowflakes, pageOf, putById, removeById } from '../../../workspace/storage/message-log.ts';

const ids = fc.uniqueArray(fc.bigInt(1n, 300n), { maxLength: 60 });
const asLog = (numbers: readonly bigint[]) => {
  const log: { id: string }[] = [];
  for (const number of numbers) putById(log, { id: String(number) });
  return log;
};

describe('a message log', () => {
  it('is sorted whatever the order of arrival, and finds and removes by id', () => {
    fc.assert(
      fc.property(ids, fc.bigInt(1n, 300n), (numbers, wanted) => {
        const log = asLog(numbers);
        const sorted = [...numbers].sort((a, b) => Number(a - b)).map(String);
        expect(log.map(({ id }) => id)).toEqual(sorted);
        expect(findById(log, String(wanted)) !== undefined).toBe(numbers.includes(wanted));
        removeById(log, String(wanted));
        expect(log.map(({ id }) => id)).toEqual(sorted.filter((id) => id !== String(wanted)));
      }),
    );
  });

  it('pages as a plain filter over all ids would', () => {
    fc.assert(
      fc.property(ids, fc.bigInt(0n, 301n), fc.integer({ min: 1, max: 10 }), (numbers, mark, limit) => {
        const log = asLog(numbers);
        const sorted = [...numbers].sort((a, b) => Number(a - b));
        const page = (query: object) => pageOf(log, { limit, ...query }).map(({ id }) => BigInt(id));
        expect(page({ before: String(mark) })).toEqual(
          sorted
            .filter((id) => id < mark)
            .slice(-limit)
            .reverse(),
        );
        expect(page({ after: String(mark) })).toEqual(
          sorted
            .filter((id) => id > mark)
            .slice(0, limit)
            .reverse(),
        );
        const around = page({ around: String(mark) });
        expect(around.length).toBeLessThanOrEqual(limit);
        expect(around.includes(mark)).toBe(numbers.includes(mark));
      }),
    );
  });
});

describe('ids', () => {
  it('increase even if the clock stands still or goes back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1_600_000_000_000, max: 1_900_000_000_000 }), { minLength: 2 }),
        (times) => {
          let index = 0;
          const next = makeSnowflakes('0', () => times[index++ % times.length] ?? 0);
          const made = Array.from({ length: 50 }, () => BigInt(next()));
          for (const [at, id] of made.entries()) if (at > 0) expect(id).toBeGreaterThan(made[at - 1] ?? 0n);
        },
      ),
    );
  });
});
