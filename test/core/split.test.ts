import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitMessage } from '../../core/split.ts';
import { expectFaithful, fragments } from './split-oracle.ts';

const paragraph = (words: number) => 'lorem ipsum dolor sit amet '.repeat(words / 5).trim();

describe('splitMessage', () => {
  it('leaves a short message as it is', () => {
    expect(splitMessage('hello\n\nworld')).toEqual(['hello\n\nworld']);
  });

  it.each(['', ' ', '\n\n', '\r\n\t', '\u200b', '\u0000'])('returns no message for %j', (text) => {
    expect(splitMessage(text)).toEqual([]);
  });

  it('cuts between paragraphs rather than inside one', () => {
    const text = Array.from({ length: 12 }, (_, i) => `${i}. ${paragraph(60)}`).join('\n\n');
    const parts = splitMessage(text);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join('\n\n')).toBe(text);
  });

  it('cuts between lines where there are no paragraphs', () => {
    const text = Array.from({ length: 300 }, (_, i) => `line ${i}`).join('\n');
    expect(splitMessage(text).join('\n')).toBe(text);
  });

  it('cuts between words where there are no lines', () => {
    const text = paragraph(2000);
    expect(splitMessage(text).join(' ')).toBe(text);
  });

  it('cuts a word only if necessary, and never inside a character', () => {
    const family = '👨‍👩‍👧‍👦';
    const text = `x${family.repeat(1000)}`;
    const parts = splitMessage(text);
    expect(parts.join('')).toBe(text);
    for (const part of parts.slice(1)) expect(part.startsWith(family)).toBe(true);
    expect(splitMessage(`x${'😀'.repeat(3000)}`).every((part) => part.isWellFormed())).toBe(true);
  });

  it('never cuts between a backslash and the sign that it protects', () => {
    for (let length = 60; length < 140; length++) {
      const parts = splitMessage(`${'\\_'.repeat(length)}${'x'.repeat(length % 2)}\\# no heading`, { limit: 100 });
      expect(parts.filter((part) => /^[_#]|(?<!\\)(?:\\\\)*\\$/.test(part))).toEqual([]);
    }
  });

  it('closes a code fence at the cut and opens it again with its language', () => {
    const code = Array.from({ length: 200 }, (_, i) => `const x${i} = ${i}; // some code`).join('\n');
    const parts = splitMessage(`Look:\n\n\`\`\`ts title="a.ts"\n${code}\n\`\`\`\n\nDone.`);
    expect(parts.length).toBeGreaterThan(2);
    expect(parts[0]).toMatch(/^Look:\n\n```ts title="a.ts"\n[\s\S]*\n```$/);
    expect(parts[1]).toMatch(/^```ts\nconst x[\s\S]*\n```$/);
    expect(parts.at(-1)).toMatch(/^```ts\n[\s\S]*\n```\n\nDone\.$/);
  });

  it('keeps the indentation of code across a cut', () => {
    const code = Array.from({ length: 200 }, (_, i) => `    indented line number ${i}`).join('\n');
    for (const part of splitMessage(`\`\`\`\n${code}\n\`\`\``)) expect(part).toMatch(/^```\n {4}indented[\s\S]*\n```$/);
  });

  it.each([
    ['a longer fence around a shorter one', '````md', '```js\nx\n```', '````'],
    ['tildes around backticks', '~~~md', '```js\nx\n```', '~~~'],
    ['an indented fence', '   ```js', '   x', '   ```'],
    ['a fence in a list', '- ```js', '  x', '  ```'],
    ['a fence deep in a list', '     ```js', '     x', '     ```'],
    ['a fence in a quote', '> ```js', '> x', '> ```'],
    ['a fence with CRLF', '```js\r', 'x\r', '```\r'],
  ])('keeps %s', (_, open, line, close) => {
    const text = `${open}\n${`${line}\n`.repeat(900)}${close}\n\nThe end.`;
    const parts = splitMessage(text);
    expectFaithful(text, parts, {});
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.at(-1)).toMatch(/\nThe end\.$/);
    const marker = close.replace('>', '').trim();
    for (const part of parts) expect(part.match(/[`~]{3,}/)?.[0]).toBe(marker);
  });

  it('moves a code block that fits to the next part', () => {
    const block = `\`\`\`js\n${'let a = 1;\n'.repeat(100)}\`\`\``;
    expect(splitMessage(`${paragraph(250)}\n${block}`)).toEqual([paragraph(250), block]);
  });

  it('closes a fence that the text itself leaves open', () => {
    expect(splitMessage('```js\nlet a;')).toEqual(['```js\nlet a;\n```']);
  });

  it('does not treat inline code in the middle of a line as a fence', () => {
    const text = `${'word '.repeat(398)}see \`\`\`code\`\`\` here ${'word '.repeat(50)}`;
    for (const part of splitMessage(text)) expect(part).not.toMatch(/^```/);
  });

  it('handles a fence whose first line alone is too long', () => {
    for (const info of ['a'.repeat(9000), 'a b '.repeat(3000), '~'.repeat(5000)]) {
      const text = `~~~${info}\ncode\n~~~\nend`;
      expectFaithful(text, splitMessage(text), {});
    }
  });

  it('leaves room for a header in the first part and a footer in the last', () => {
    for (let length = 3000; length < 4400; length += 7) {
      const text = `\`\`\`js\n${'let a = 1;\n'.repeat(length / 11)}\`\`\``;
      const room = { header: 150, footer: 200 };
      expectFaithful(text, splitMessage(text, room), room);
    }
  });

  it('keeps every guarantee for 5,000 random texts', () => {
    const input = fc.record({
      picks: fc.array(fc.nat(fragments.length - 1), { maxLength: 60, size: 'max' }),
      limit: fc.integer({ min: 48, max: 260 }),
      header: fc.integer({ min: 0, max: 12 }),
      footer: fc.integer({ min: 0, max: 12 }),
    });
    fc.assert(
      fc.property(input, ({ picks, ...options }) => {
        const text = picks.map((pick) => fragments[pick]).join('');
        expectFaithful(text, splitMessage(text, options), options);
      }),
      { numRuns: 5_000 },
    );
  });
});
