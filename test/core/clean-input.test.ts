import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanInbound, guardForPrompt } from '../../core/untrusted-text.ts';

/** Any 16-bit units, including half surrogate pairs, with many low ones. */
const units = fc
  .array(
    fc.oneof(
      fc.nat(0xff),
      fc.nat(0xffff),
      fc.integer({ min: 0xd800, max: 0xdfff }),
      fc.constantFrom(0x0a, 0x20, 0x200d),
    ),
  )
  .map((codes) => String.fromCharCode(...codes));

describe('cleanInbound', () => {
  it.each([
    ['a\r\nb\rc\n', 'a\nb\nc\n'],
    ['tab\tstays', 'tab\tstays'],
    ['\u001b[201~\r!rm', '[201~\n!rm'],
    ['\u0000a\u0007\u007f\u0085\u009b', 'a'],
    ['\ud83d\ude00 \ud83d x \ude00', '😀  x '],
    ['grüße 漢字 👨‍👩‍👧', 'grüße 漢字 👨‍👩‍👧'],
    ['👩\u200d', '👩'],
    ['👩\u200d\u200d \u200d\t\n\u200d\nක්\u200dර \n\u200dx \u200d', '👩 \t\n\nක්\u200dර \n\u200dx '],
    ['\u200d', ''],
  ])('makes %j into %j', (text, cleaned) => {
    expect(cleanInbound(text)).toBe(cleaned);
  });

  it('lets no control character and no half surrogate pair through', () => {
    fc.assert(
      fc.property(units, (text) => {
        expect(cleanInbound(text)).not.toMatch(/(?![\t\n])\p{Cc}/u);
        expect(cleanInbound(text).isWellFormed()).toBe(true);
        expect(cleanInbound(text)).not.toMatch(/\u200d\s*$/m);
        expect(cleanInbound(cleanInbound(text))).toBe(cleanInbound(text));
      }),
    );
  });
});

describe('guardForPrompt', () => {
  it.each([
    ['!rm -rf x', ' !rm -rf x'],
    ['/clear', ' /clear'],
    ['@file see', ' @file see'],
    ['#note', ' #note'],
    ['&task', ' &task'],
    ['ends in \\', 'ends in \\ '],
    ['look at @src/a.ts', 'look at @src/a.ts '],
    ['look at @', 'look at @ '],
    ['@all', ' @all '],
    ['mail a@b.c now', 'mail a@b.c now'],
    ['plain', 'plain'],
    ['', ''],
    ['two\nlines!', 'two\nlines!'],
  ])('makes %j into %j', (text, guarded) => {
    expect(guardForPrompt(text)).toBe(guarded);
  });
});
