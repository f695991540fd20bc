import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lineDiff } from '../../core/line-diff.ts';

describe('the difference between two texts', () => {
  it('shows removed and added lines, with some context', () => {
    const before = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'];
    const after = before.map((line) => (line === '2' ? 'two' : line)).concat('11');
    expect(lineDiff(before.join('\n'), after.join('\n'))).toEqual([
      ...['  1', '- 2', '+ two', '  3', '  4', '  …', '  9', '  10', '+ 11'],
    ]);
  });

  it('is empty for equal texts', () => {
    expect(lineDiff('a\nb', 'a\nb')).toEqual([]);
  });

  it('never invents or omits a changed line', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const count = (lines: readonly string[], line: string) => lines.filter((one) => one === line).length;
        const diff = lineDiff(before.join('\n'), after.join('\n'));
        for (const line of ['a', 'b', 'c', 'd'])
          expect(count(diff, `+ ${line}`) - count(diff, `- ${line}`)).toBe(count(after, line) - count(before, line));
      }),
    );
  });
});
