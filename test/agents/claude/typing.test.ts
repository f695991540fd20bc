import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { boxWhileTyping, shownText } from '../../../agents/claude/typing.ts';

const PLACEHOLDERS = ['[Pastedtext#', '[Image#'];

describe('what the box shows of a pasted text', () => {
  it.each([
    ['short', 'hello there', 'hellothere'],
    ['of three lines', 'one\n\n  two\tthree', 'onetwothree'],
    ['in wide characters', '漢字 かな', '漢字かな'],
    ['that looks like a pattern', '.* [x] \\ $(id) "', '.*[x]\\$(id)"'],
  ])('is all of it if it is %s', (_, text, whole) => {
    expect(shownText(text)).toEqual({ from: '❯\u00a0', to: '─', whole, parts: PLACEHOLDERS });
  });

  it('is the end of a long text, or the placeholder', () => {
    const text = Array.from({ length: 50 }, (_, n) => `word${n}`).join(' ');
    const tail = 'word43word44word45word46word47word48word49'.slice(-40);
    expect(shownText(text)).toMatchObject({ whole: '', parts: [tail, ...PLACEHOLDERS] });
  });

  it.each([
    ['a joined emoji', 'a family of three 👩‍👩‍👧', 'afamilyofthree👩'],
    ['a combining mark', 'it was called cafe\u0301!', 'itwascalledcafe'],
    ['a flag', 'from a person in 🇩🇪', 'fromapersonin'],
    ['a no-break space', 'one two three\u00a0four', 'onetwothree'],
  ])('is the part before %s, which terminals draw in different ways', (_, text, tail) => {
    expect(shownText(text)).toMatchObject({ whole: '', parts: [tail, ...PLACEHOLDERS] });
  });

  it.each(['👍🏽', 'ok 👩‍👩‍👧', '\u202e'])('is only a placeholder for %j, of which nothing is certain', (text) => {
    expect(shownText(text)).toMatchObject({ whole: '', parts: PLACEHOLDERS });
  });
});

describe('the box while a text is typed', () => {
  const folder = join(import.meta.dirname, '../../fixtures/screens');
  const recorded = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^\d.*\.ansi$/.test(path)) // of Claude Code
    .map((path) => {
      const text = stripVTControlCharacters(readFileSync(join(folder, path), 'utf8'));
      return { path, isSeen: boxWhileTyping(text, 'hello', { width: 80, height: 24 }).length > 0 };
    });
  const of = (state: RegExp) => recorded.filter(({ path }) => state.test(path));

  it('is seen on every recorded screen with an empty box or a draft', () => {
    const all = of(/\/(?:empty|draft|busy)[^/]*$/).filter(({ path }) => !path.endsWith('/draft-tall.ansi'));
    expect(all.length).toBeGreaterThan(300);
    expect(all.filter(({ isSeen }) => !isSeen)).toEqual([]);
  });

  it('is seen on no recorded screen with a dialog', () => {
    const all = of(/\/dialog[^/]*$/);
    expect(all.length).toBeGreaterThan(290);
    expect(all.filter(({ isSeen }) => isSeen)).toEqual([]);
  });

  it('may leave the screen when the text is tall', () => {
    const screen = '─────\n❯\u00a0\n─────';
    expect(boxWhileTyping(screen, 'hello', { width: 80, height: 24 })).toHaveLength(1);
    expect(boxWhileTyping(screen, 'line\n'.repeat(20), { width: 80, height: 24 })).toEqual([]);
    expect(boxWhileTyping(screen, 'x'.repeat(700), { width: 80, height: 24 })).toEqual([]);
    expect(boxWhileTyping(screen, '漢'.repeat(300), { width: 40, height: 24 })).toEqual([]);
  });
});
