// Which texts were submitted, for processes that only read the registry.

import { describe, expect, it } from 'vitest';
import { timesSubmitted, unreportedPrompts, withSubmitted } from '../../threads/submitted-prompts.ts';

const letter = (id: string, writtenAt: number) => ({ id, writtenAt });
const after = (...prompts: readonly (readonly [string, number])[]) =>
  prompts.reduce<{ submitted?: ReturnType<typeof withSubmitted> & object }>(
    (record, [text, at]) => ({ submitted: withSubmitted(record, [text], letter(`${text} ${at}`, at)) ?? [] }),
    {},
  );

describe('submitted prompts', () => {
  it('are found by their words, since a time', () => {
    const record = after(['run the  tests\n', 100], ['[Image #1]what is this', 200]);
    expect(timesSubmitted(record, 'run the tests', 100)).toBe(1);
    expect(timesSubmitted(record, 'run the tests', 101)).toBe(0);
    expect(timesSubmitted(record, 'run the test', 0)).toBe(0);
    expect(timesSubmitted(record, 'what is this /tmp/a.png', 200)).toBe(1);
    // Some agents drop what cannot be seen.
    expect(timesSubmitted(record, '\u200b run the\u2060 tests', 100)).toBe(1);
  });

  it('count once per letter, and only the last ones are kept', () => {
    const record = after(['a', 1]);
    expect(withSubmitted(record, ['a'], letter('a 1', 1))).toBe(undefined);
    expect(withSubmitted(record, [], letter('b', 2))).toBe(undefined);
    const many = after(...Array.from({ length: 50 }, (_, at) => [`text ${at}`, at] as const));
    expect(many.submitted).toHaveLength(30);
    expect(timesSubmitted(many, 'text 49', 0)).toBe(1);
  });

  it('that no hook has reported are those of the turn, without the reported ones', () => {
    const record = { ...after(['old', 1], ['first', 20], ['first', 21]), stoppedAt: 10 };
    expect(unreportedPrompts(record, ['first', 'first', 'first', 'between tools', 'old'])).toEqual([
      'first',
      'between tools',
      'old',
    ]);
  });
});
