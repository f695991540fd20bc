import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLastEnds } from '../../threads/last-ends.ts';
import { cpuMs } from '../support/cpu-time.ts';

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

it('a change counts from the moment when people can see it', async () => {
  const ends = createLastEnds();
  const later = performance.now() + 60_000;
  const shown = ends.until('1', sleep(20));
  expect(ends.isJustBefore('1', later)).toBe(true);
  await shown;
  expect(ends.isJustBefore('1', later)).toBe(false);
  expect(ends.isJustBefore('1', performance.now())).toBe(true);
});

it('a change that was refused is seen by nobody, until the same message is shown', async () => {
  const ends = createLastEnds();
  const refuse = (about: { by?: string; of?: string }) =>
    expect(ends.until('1', Promise.reject(new Error('refused')), about)).rejects.toThrow('refused');
  const isSeen = (by?: string) => !ends.isJustBefore('1', performance.now() + 60_000, by);
  await refuse({ by: 'a', of: 'one' });
  expect(isSeen()).toBe(false);
  expect(isSeen('a')).toBe(false);
  await ends.until('1', Promise.resolve(), { of: 'another' });
  expect(isSeen()).toBe(false);
  await ends.until('1', Promise.resolve(), { of: 'one' });
  expect(isSeen()).toBe(true);
});

it('refused changes do not fill the memory', async () => {
  const ends = createLastEnds();
  for (let at = 0; at < 2_000; at++)
    await ends.until('1', Promise.reject(new Error('no')), { of: `${at}` }).catch(() => {});
  const later = performance.now() + 60_000;
  const ms = await cpuMs(() => {
    for (let at = 0; at < 2_000; at++) ends.isJustBefore('1', later);
  });
  expect(ms).toBeLessThan(500);
  expect(ends.isJustBefore('1', later)).toBe(true);
});

it('a change is known to the person who made it as soon as it is shown, and to nobody else', async () => {
  const ends = createLastEnds();
  const shown = ends.until('1', Promise.resolve(), { by: 'a' });
  expect(ends.isJustBefore('1', performance.now(), 'a')).toBe(true);
  await shown;
  expect(ends.isJustBefore('1', performance.now(), 'a')).toBe(false);
  expect(ends.isJustBefore('1', performance.now(), 'b')).toBe(true);
  await ends.until('1', Promise.resolve(), { by: 'b' });
  expect(ends.isJustBefore('1', performance.now(), 'b')).toBe(true);
  ends.note('2');
  expect(ends.isJustBefore('2', performance.now())).toBe(true);
});
