import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { insideFence, neutralise, wordsInPlace } from '../../core/untrusted-text.ts';

/** Any 16-bit units, including half surrogate pairs, with many low ones. */
const units = fc
  .array(fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff })))
  .map((codes) => String.fromCharCode(...codes));

describe('neutralise', () => {
  it.each([
    ['bidi override', 'rm \u202egpj.txt', 'rm ⟨U+202E⟩gpj.txt'],
    ['bidi isolate', 'a\u2066b\u2069', 'a⟨U+2066⟩b⟨U+2069⟩'],
    ['zero width space', 'a\u200bb\ufeff', 'a⟨U+200B⟩b⟨U+FEFF⟩'],
    ['escape', '\u001b[2K', '⟨U+001B⟩[2K'],
    ['carriage return', 'safe\rrm', 'safe⟨U+000D⟩rm'],
    ['C1', 'a\u009b1m', 'a⟨U+009B⟩1m'],
    ['tag characters', 'a\u{e0041}', 'a⟨U+E0041⟩'],
    ['hidden variation signs', 'a\ufe0f\u{e0101}', 'a⟨U+FE0F⟩⟨U+E0101⟩'],
    ['a second variation sign', '❤️\ufe0f', '❤️⟨U+FE0F⟩'],
    ['joiner between letters', 'a\u200db', 'a⟨U+200D⟩b'],
    ['no-break space', 'rm /\u00a0tmp', 'rm /⟨U+00A0⟩tmp'],
    ['filler', 'x\u3164', 'x⟨U+3164⟩'],
    ['line separator', 'a\u2028b', 'a⟨U+2028⟩b'],
    ['half a character', 'a\ud800', 'a⟨U+D800⟩'],
    ['place of an object', 'a\ufffcb', 'a⟨U+FFFC⟩b'],
    ['symbol without ink', 'a\u{1d159}\u{13441}b', 'a⟨U+1D159⟩⟨U+13441⟩b'],
    ['character that no version of Unicode knows', 'a\uffff\u{50000}', 'a⟨U+FFFF⟩⟨U+50000⟩'],
  ])('shows a %s', (_, text, shown) => {
    expect(neutralise(text)).toBe(shown);
  });

  it('leaves visible text unchanged', () => {
    const text = 'grüße\n\t漢字 مرحبا हिन्दी 👨‍👩‍👧‍👦 ❤️ 1️⃣ 👍🏽 🇩🇪 ‘quotes’ — $(x) `y`';
    expect(neutralise(text)).toBe(text);
  });

  it('leaves no invisible character except those of an emoji', () => {
    fc.assert(
      fc.property(units, (text) => {
        expect(neutralise(text)).not.toMatch(/[\p{Bidi_Control}\u{e0000}-\u{e0fff}\u200b]|(?![\n\t])\p{Cc}/u);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('wordsInPlace', () => {
  it('keeps words that are written from right to left in their places', () => {
    expect(wordsInPlace('cp א ב')).toBe('cp \u200eא\u200e \u200eב\u200e');
    expect(wordsInPlace('echo مرحبا > 1')).toBe('echo \u200eمرحبا\u200e > 1');
    expect(wordsInPlace('grüße 漢字')).toBe('grüße 漢字');
  });
});

describe('insideFence', () => {
  it('wraps text with its language', () => {
    expect(insideFence('ls', 'sh')).toBe('```sh\nls\n```');
  });

  it('cannot be closed by its text', () => {
    expect(insideFence('a\n```\n@everyone')).toBe('```\na\n``⟨U+0060⟩\n@everyone\n```');
    fc.assert(
      fc.property(fc.array(fc.constantFrom('`', 'a', '\n', '~')), (letters) => {
        const block = insideFence(letters.join(''), 'x`y\n');
        expect(block.split('```')).toHaveLength(3);
      }),
    );
  });

  it('says that the text is empty', () => {
    expect(insideFence('\n')).toBe('```\n⟨empty⟩\n```');
  });
});
