import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, tablesToCode } from '../../core/markdown-tables.ts';

const table = (...lines: string[]) => lines.join('\n');

describe('tablesToCode', () => {
  it('turns a table into an aligned code block and leaves the rest unchanged', () => {
    const text = 'Results:\n\n| name | value |\n|------|-------|\n| a | 1 |\n| long | 22 |\n\nDone.';
    expect(tablesToCode(text)).toBe('Results:\n\n```\nname  value\n----  -----\na     1\nlong  22\n```\n\nDone.');
  });

  it('honours the alignment marks', () => {
    expect(tablesToCode(table('l|c|r', ':--|:-:|--:', 'a|b|c', 'aaa|bbb|ccc'))).toBe(
      table('```', 'l     c     r', '---  ---  ---', 'a     b     c', 'aaa  bbb  ccc', '```'),
    );
  });

  it('aligns wide, combining and joined characters', () => {
    const code = tablesToCode(
      table('| k | v |', '|--|--|', '| 漢字 | 1 |', '| 👨‍👩‍👧 | 2 |', `| ${'é'.normalize('NFD')} | 3 |`, '| ❤️ | 4 |'),
    );
    const columns = code
      .split('\n')
      .slice(1, -1)
      .map((line) => displayWidth(line.slice(0, -1)));
    expect(columns).toEqual([6, 6, 6, 6, 6, 6]);
  });

  it.each([
    ['**bold** and _it_', 'bold and it'],
    ['`a *b*`', 'a *b*'],
    ['**`x`**', 'x'],
    ['a \\| b', 'a | b'],
    ['`a\\|b`', 'a|b'],
    ['[site](https://a.b)', 'site (https://a.b)'],
    ['[https://a.b](https://a.b)', 'https://a.b'],
    ['snake_case_name', 'snake_case_name'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['a<br>b', 'a b'],
    ['~~old~~', 'old'],
    ['\\*', '*'],
  ])('shows the cell %s as %s', (cell, shown) => {
    expect(tablesToCode(`| h |\n|---|\n| ${cell} |`).split('\n')[3]).toBe(shown);
  });

  it('keeps rows that have too few or too many cells', () => {
    expect(tablesToCode(table('|a|b|', '|-|-|', '|1|', '|1|2|3|'))).toBe(
      table('```', 'a  b', '-  -  -', '1', '1  2  3', '```'),
    );
  });

  it.each([
    ['in a code fence', '```\n| a | b |\n|---|---|\n| 1 | 2 |\n```'],
    ['in a longer fence', '````md\n```\n````\n~~~\n| a |\n|---|\n~~~'],
    ['with another number of cells', '| a | b |\n|---|\n| 1 | 2 |'],
    ['without a delimiter row', '| a | b |\n| 1 | 2 |'],
    ['that is only a rule', 'a | b\n\n---\n'],
    ['in inline code', 'use `|---|` or `a | b` here\nand go on'],
  ])('does not touch a table %s', (_, text) => {
    expect(tablesToCode(text)).toBe(text);
  });

  it('ends a table at the first line without pipes', () => {
    expect(tablesToCode('|a|\n|-|\n|1|\nText\n|x|\n```\n|a|\n|-|\n```')).toBe(
      '```\na\n-\n1\n```\nText\n|x|\n```\n|a|\n|-|\n```',
    );
  });

  it('turns a table that is too wide into a list in which links still work', () => {
    const long = 'word '.repeat(20).trim();
    const text = `| **Name** | Link | Why |\n|---|---|---|\n| a | [x](https://a.b) | ${long} |\n| b | | ${long} |`;
    expect(tablesToCode(text)).toBe(
      `- **Name**: a\n  **Link**: [x](https://a.b)\n  **Why**: ${long}\n- **Name**: b\n  **Why**: ${long}`,
    );
  });

  it('lists a very long name once, and not in each row', () => {
    const name = 'name '.repeat(5_000).trim();
    const shown = tablesToCode(`|${name}|b|\n|---|---|\n${'|1|2|\n'.repeat(5_000)}`);
    expect(shown.length).toBeLessThan(300_000);
    expect(shown.startsWith(`- ${name}\n  b\n- **name name name name …**: 1\n  **b**: 2\n- `)).toBe(true);
  });

  it('cannot be made to close its own code block', () => {
    expect(tablesToCode('| a |\n|---|\n| x ``` y |').split('```')).toHaveLength(3);
  });

  it('accepts CRLF', () => {
    expect(tablesToCode('x\r\n|a|\r\n|-|\r\n|1|\r\n\r\ny')).toBe('x\r\n```\na\n-\n1\n```\n\r\ny');
  });

  it('loses no word and changes no text outside tables', () => {
    const piece = fc.constantFrom('|', '-', ':', '\n', ' ', 'a', 'b c', '`', '```\n', '\\', '**', '|-|\n', '> ');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('');
        const letters = (shown: string) => shown.replace(/U\+0060/g, '').replace(/[^abc]/g, '');
        expect(letters(tablesToCode(text))).toBe(letters(text));
        if (!/^[\s|:-]*-[\s|:-]*$/m.test(text)) expect(tablesToCode(text)).toBe(text);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('displayWidth', () => {
  it.each([
    ['abc', 3],
    ['漢', 2],
    ['ｆ', 2],
    ['é'.normalize('NFD'), 1],
    ['👩‍🚀', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['❤', 1],
    ['\u200b', 0],
    ['한글', 4],
    ['…→', 2],
  ])('counts %s as %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});
