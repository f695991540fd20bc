// Letters of another host in our outbox: each once, in order of arrival, whatever was killed in between.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hostOutbox, putHostLetter } from '../../hooks/host-letters.ts';
import { isOfBox, parseLetter } from '../../hooks/letter.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { fixture } from '../support/hook-process.ts';
import { tempHome } from '../support/temp-home.ts';

const start = () => {
  const home = tempHome();
  const outbox = hostOutbox(home, 'mini');
  const put = (name: string, text: string) => putHostLetter(outbox, '42.7', name, Buffer.from(text));
  const texts = () =>
    openOutbox(outbox)
      .letters('42.7')
      .map((path) => readFileSync(path, 'utf8'));
  return { home, outbox, put, texts };
};

describe('a letter from another host', () => {
  it('is of its folder only if its pane is, or if it is a question of the headless agent that the folder names', () => {
    const letter = (input: object, more = '') => {
      const text = `threadmux 2\ntmux /t,42,0\npane %7\n${more}\n${JSON.stringify(input)}`;
      const reading = parseLetter(text, 'salt', 1);
      if (reading.kind !== 'letter') throw new Error(reading.kind);
      return reading.letter;
    };
    const stop = fixture('Stop');
    const headless = `ask ${'a'.repeat(32)}\nthread 99\n`;
    expect(isOfBox(letter(stop), '42.7')).toBe(true);
    expect(isOfBox(letter(stop), '42.8')).toBe(false);
    const asks = letter(fixture('PermissionRequest.Bash'), headless);
    expect(isOfBox(asks, '0.99')).toBe(true);
    expect(isOfBox(asks, '42.7')).toBe(false);
    // Any other report would be posted for the pane that it names.
    expect(isOfBox(letter(stop, headless), '0.99')).toBe(false);
  });

  it('waits in order of arrival, even if the host counts from one again', () => {
    const { put, texts } = start();
    put('100000001.90', 'one');
    put('100000001.10', 'two');
    put('100000001.50', 'three');
    expect(texts()).toEqual(['one', 'two', 'three']);
  });

  it('that is sent again is stored once, even after it was posted', () => {
    const { put, texts, outbox } = start();
    put('100000001.90', 'one');
    put('100000001.90', 'one');
    expect(texts()).toEqual(['one']);
    for (const path of openOutbox(outbox).letters('42.7')) rmSync(path);
    put('100000001.90', 'one');
    expect(texts()).toEqual([]);
    put('100000001.91', 'one');
    expect(texts()).toEqual(['one']);
  });

  it('is not taken when too many of its pane wait, so that a host cannot fill our disk', () => {
    const { outbox, put, texts } = start();
    for (let n = 0; n < 500; n++) put(`100000001.${n}`, String(n));
    expect(put('100000001.999', 'more')).toBe('pane-full');
    expect(putHostLetter(outbox, '43.7', '100000001.1', Buffer.from('of another pane'))).toBeUndefined();
    expect(texts()).toHaveLength(500);
    for (const path of openOutbox(outbox).letters('42.7')) rmSync(path);
    put('100000001.999', 'more');
    expect(texts()).toEqual(['more']);
    for (let n = 0; n < 199; n++) putHostLetter(outbox, `7.${n}`, '100000001.1', Buffer.from('x'));
    expect(putHostLetter(outbox, '8.1', '100000001.1', Buffer.from('x'))).toBe('pane-full');
  });

  it('is refused when too many bytes wait in all outboxes, until some were posted', () => {
    const { outbox, texts } = start();
    const put = (box: string, size: number) =>
      putHostLetter(outbox, box, `100000001.${box}`, Buffer.alloc(size, box), 1_000);
    put('42.7', 400);
    put('43.7', 400);
    expect(put('44.7', 300)).toBe('full');
    put('45.7', 200);
    for (const path of openOutbox(outbox).letters('42.7')) rmSync(path);
    put('44.7', 300);
    expect(put('46.7', 200)).toBe('full');
    expect(texts()).toEqual([]);
  });

  it('that was stored but not recorded when we were killed is stored once', () => {
    const { home, put, texts, outbox } = start();
    put('100000001.90', 'one');
    rmSync(join(outbox, '42.7', '.last'));
    hostOutbox(home, 'mini'); // the next start, before anything is posted
    for (const path of openOutbox(outbox).letters('42.7')) rmSync(path);
    put('100000001.90', 'one');
    expect(texts()).toEqual([]);
    expect(readdirSync(join(outbox, '42.7'))).toEqual(['.last']);
  });
});
