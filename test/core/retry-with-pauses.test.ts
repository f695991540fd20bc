import { describe, expect, it } from 'vitest';
import { keepTrying, pauseMs } from '../../core/retry-with-pauses.ts';

const PAUSES = { firstMs: 500, longestMs: 30_000 };

describe('a pause after failures', () => {
  it('grows with each failure up to its limit, and has a random part', () => {
    expect([1, 2, 3].map((failures) => pauseMs(failures, PAUSES, 1))).toEqual([500, 1_000, 2_000]);
    expect(pauseMs(3, PAUSES, 0)).toBe(1_000);
    expect(pauseMs(5_000, PAUSES, 1)).toBe(30_000);
  });
});

describe('a repeated attempt', () => {
  const quick = { firstMs: 1, longestMs: 2 };

  it('returns its result as soon as it succeeds', async () => {
    const failed: number[] = [];
    const act = async (failures: number) => {
      if (failures < 3) throw new Error('not yet');
      return 'done';
    };
    const onFailure = (_: unknown, failures: number) => void failed.push(failures);
    expect(await keepTrying(act, { ...quick, onFailure })).toBe('done');
    expect(failed).toEqual([1, 2, 3]);
  });

  it('ends with the error that the caller throws', async () => {
    const act = () => Promise.reject(new Error('gone'));
    const onFailure = (error: unknown) => {
      throw error;
    };
    await expect(keepTrying(act, { ...quick, onFailure })).rejects.toThrow('gone');
  });

  it('ends in the middle of a pause when its signal is aborted', async () => {
    const stopping = new AbortController();
    const act = () => Promise.reject(new Error('not yet'));
    const onFailure = () => void setImmediate(() => stopping.abort());
    const trying = { firstMs: 600_000, longestMs: 600_000, signal: stopping.signal, onFailure };
    await expect(keepTrying(act, trying)).rejects.toThrow('aborted');
  });
});
