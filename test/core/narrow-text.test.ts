// Text of a wide terminal for a phone: nothing is wider, and no word is missing.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { displayWidth } from '../../core/markdown-tables.ts';
import { narrowText } from '../../core/narrow-text.ts';
import { cpuMs } from '../support/cpu-time.ts';

const widest = (text: string) => Math.max(...text.split('\n').map(displayWidth));

it.each([
  ['empty lines around', '\n\n   a\n     b\n\n', 'a\n  b'],
  ['runs of empty lines', 'a\n\n\n\nb', 'a\n\nb'],
  ['a rule', '─'.repeat(200), '─'.repeat(20)],
  ['a rule of text', '='.repeat(200), '='.repeat(20)],
  ['a command that looks like a rule', `${'_'.repeat(20)} | __ --_`, `${'_'.repeat(20)}\n| __ --_`],
  ['a wide box', `│ ${'word '.repeat(6)}│`, 'word word word word\nword word'],
  ['a box that fits', '╭──╮\n│ a│\n╰──╯', '╭──╮\n│ a│\n╰──╯'],
  ['a list', 'x\n  1. one two three four five six', 'x\n  1. one two three\n  four five six'],
  ['columns far apart', `Model${' '.repeat(30)}Opus`, 'Model  Opus'],
  ['a word without end', 'x'.repeat(45), `${'x'.repeat(20)}\n${'x'.repeat(20)}\nxxxxx`],
  ['wide characters', '漢'.repeat(12), `${'漢'.repeat(10)}\n漢漢`],
  ['nothing', ' \n \n', ''],
])('narrows %s', (_, text, wanted) => {
  expect(narrowText(text, 20)).toBe(wanted);
});

it('never exceeds the width and loses no letter', () => {
  const line = fc.array(fc.constantFrom('a', 'word', ' ', '    ', '│', '─', '漢', '🚀', '…', '❯', '\u00a0'), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      const text = lines.map((parts) => parts.join('')).join('\n');
      const narrow = narrowText(text, 30);
      expect(widest(narrow)).toBeLessThanOrEqual(30);
      const letters = (shown: string) => shown.replace(/[\s─│]/g, '');
      expect(letters(narrow)).toBe(letters(text));
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['one line', 'ä '.repeat(500_000)],
  ['one word', '漢'.repeat(1_000_000)],
  ['many lines', 'x\n'.repeat(500_000)],
])('reads only the end of a huge text, in a moment: %s', async (_, text) => {
  let narrow = '';
  const ms = await cpuMs(() => {
    narrow = narrowText(text);
  });
  expect(ms).toBeLessThan(10_000); // it took hours, and nothing else ran meanwhile
  expect(narrow.startsWith('…\n')).toBe(true);
  expect(narrow.length).toBeLessThan(60_000);
});
