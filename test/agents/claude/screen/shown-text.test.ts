import { describe, expect, it } from 'vitest';
import { shownText } from '../../../../agents/claude/screen/shown-text.ts';

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
