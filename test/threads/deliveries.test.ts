// Which typed messages a submitted prompt confirms.

import { describe, expect, it } from 'vitest';
import { confirmedBy, confirmedByTurn } from '../../threads/receipts.ts';
import type { DeliveryRecord } from '../../threads/registry.ts';
import { cpuMs } from '../support/cpu-time.ts';

const typed = (id: number, words: string, more: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id: String(id),
  message: String(id),
  words,
  paths: [],
  at: id,
  state: 'typed' as const,
  receipt: '',
  submittedAt: 0,
  notice: '',
  ...more,
});
const PNG = '/home/a b/files/5/x.png';
const done = { state: 'submitted', receipt: 'old', submittedAt: 10 } as const;
const letter = { id: 'letter', writtenAt: 100 };

describe('a receipt', () => {
  it.each<[string, string[], DeliveryRecord[], string[]]>([
    ['one message', ['hi'], [typed(5, 'hi')], ['5']],
    ['nothing that does not match', ['hi'], [typed(5, 'ho')], []],
    ['the oldest of equal texts', ['hi'], [typed(5, 'hi'), typed(7, 'hi')], ['5']],
    ['the next of equal texts', ['hi'], [typed(5, 'hi', done), typed(7, 'hi')], ['7']],
    ['equal texts', ['hi', 'hi'], [typed(5, 'hi'), typed(7, 'hi')], ['5', '7']],
    ['texts in any order', ['b', 'a'], [typed(7, 'a'), typed(8, 'b')], ['8', '7']],
    ['a message that was given up', ['hi'], [typed(5, 'hi', { state: 'unconfirmed' })], ['5']],
    ['a text with guard characters', [' /x \\ '], [typed(5, '/x \\')], ['5']],
    ['a text that Claude trimmed', ['@a'], [typed(5, ' @a ')], ['5']],
    ['a text whose zero-width characters the agent dropped', ['!x'], [typed(5, '\u200b !x')], ['5']],
    ['a text with other white space', ['a\nb'], [typed(5, 'a\n\n b')], ['5']],
    ['an image alone', ['[Image #1]'], [typed(5, '', { paths: [PNG] })], ['5']],
    ['text with an image', ['[Image #1]see'], [typed(5, 'see', { paths: [PNG] })], ['5']],
    ['two images', ['[Image #1] [Image #2]see'], [typed(5, 'see', { paths: [PNG, '/b'] })], ['5']],
    ['a file by its path', [`see\n\n${PNG}`], [typed(5, 'see', { paths: [PNG] })], ['5']],
    ['no text that lacks the file', ['see'], [typed(5, 'see', { paths: [PNG] })], []],
    ['no text with other files', ['see /b'], [typed(5, 'see', { paths: [PNG] })], []],
    ['a text that contains an image mark', ['[Image #1] x'], [typed(5, '[Image #1] x')], ['5']],
    ['nothing typed in the terminal', ['by hand'], [typed(5, 'hi')], []],
  ])('confirms %s', (_, prompts, deliveries, wanted) => {
    expect(confirmedBy(deliveries, prompts, letter).ids).toEqual(wanted);
  });

  it('of megabytes, or for thousands of prompts, is compared with many messages at once', async () => {
    const open = Array.from({ length: 200 }, (_, at) => typed(at, `message ${at}`, { paths: at % 2 ? [PNG] : [] }));
    const prompts = [...Array<string>(60_000).fill('one two three'), 'message 8'];
    const ms = await cpuMs(() => {
      expect(confirmedBy(open, ['a '.repeat(2_000_000)], letter).ids).toEqual([]);
      expect(confirmedByTurn(open, prompts, letter, 0).ids).toEqual(['8']);
    });
    expect(ms).toBeLessThan(10_000); // it took minutes, and nothing else ran meanwhile
  });

  it('that is read twice confirms nothing twice', () => {
    const once = confirmedBy([typed(5, 'go'), typed(6, 'go')], ['go'], letter);
    expect(once.ids).toEqual(['5']);
    expect(confirmedBy(once.deliveries, ['go'], letter).ids).toEqual([]);
    expect(confirmedBy(once.deliveries, ['go'], { ...letter, id: 'next' }).ids).toEqual(['6']);
  });
});

describe('the end of a turn', () => {
  const byHook = { state: 'submitted', receipt: 'x', submittedAt: 50 } as const;

  it('confirms what was read between two tools, without its own hook', () => {
    const deliveries = [typed(5, 'a', byHook), typed(6, 'b')];
    expect(confirmedByTurn(deliveries, ['a', 'b'], letter, 20).ids).toEqual(['6']);
  });

  it('counts equal texts with a hook first', () => {
    const deliveries = [typed(5, 'go', byHook), typed(6, 'go'), typed(7, 'go')];
    expect(confirmedByTurn(deliveries, ['go'], letter, 20).ids).toEqual([]);
    expect(confirmedByTurn(deliveries, ['go', 'go'], letter, 20).ids).toEqual(['6']);
  });

  it('does not count what an earlier turn answered', () => {
    const deliveries = [typed(5, 'go', done), typed(6, 'go')];
    expect(confirmedByTurn(deliveries, ['go'], letter, 20).ids).toEqual(['6']);
  });
});
