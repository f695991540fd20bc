// Which messages a prompt of Claude Code's confirms.

import { describe, expect, it } from 'vitest';
import { type Candidate, confirmed } from '../../hooks/receipts.ts';

function wrote(id: number, content: string, more: Partial<Candidate> = {}): Candidate {
  return { id: String(id), content, author: { id: '1', bot: false }, reactions: [], ...more };
}
const done = { reactions: [{ me: true, emoji: { name: '✅' } }] };
const bot = { author: { id: '2', bot: true } };

describe('a receipt', () => {
  it.each<[string, string[], Candidate[], bigint, string[]]>([
    ['one message', ['hi'], [wrote(5, 'hi')], 9n, ['5']],
    ['nothing that fits', ['hi'], [wrote(5, 'ho')], 9n, []],
    ['the oldest of equal texts', ['hi'], [wrote(7, 'hi'), wrote(5, 'hi')], 9n, ['5']],
    ['the next of equal texts', ['hi'], [wrote(7, 'hi'), wrote(5, 'hi', done)], 9n, ['7']],
    ['equal texts in one turn', ['hi', 'hi'], [wrote(7, 'hi'), wrote(5, 'hi')], 9n, ['5', '7']],
    [
      'queued texts of one turn, in their order',
      ['b', 'a'],
      [wrote(8, 'b'), wrote(7, 'a')],
      9n,
      ['8', '7'],
    ],
    ['only what was typed', ['hi'], [wrote(5, 'hi')], 4n, []],
    ['what was typed last', ['hi'], [wrote(5, 'hi')], 5n, ['5']],
    ['no word of a bot', ['hi'], [wrote(5, 'hi', bot)], 9n, []],
    [
      'though somebody else reacted',
      ['hi'],
      [wrote(5, 'hi', { reactions: [{ me: false, emoji: { name: '✅' } }] })],
      9n,
      ['5'],
    ],
    [
      'though it failed before',
      ['hi'],
      [wrote(5, 'hi', { reactions: [{ me: true, emoji: { name: '⚠️' } }] })],
      9n,
      ['5'],
    ],
    ['a text that was guarded', [' /x \\ '], [wrote(5, '/x \\')], 9n, ['5']],
    ['a text that Claude trimmed', ['@a'], [wrote(5, ' @a ')], 9n, ['5']],
    ['whatever its line ends', ['a\nb'], [wrote(5, 'a\r\nb\u0007')], 9n, ['5']],
    ['a file alone', ['/h/files/5/x.png'], [wrote(5, '')], 9n, ['5']],
    ['text with files', ['see\n\n/h/files/5/x.png'], [wrote(5, 'see')], 9n, ['5']],
    ['not the files of another', ['see\n\n/h/files/6/x.png'], [wrote(5, 'see')], 9n, []],
    ['nothing for somebody who typed in the terminal', ['by hand'], [wrote(5, 'hi')], 9n, []],
    ['20 digits compared as numbers', ['hi'], [wrote(99, 'hi')], 100n, ['99']],
  ])('is for %s', (_, prompts, messages, typed, wanted) => {
    expect(confirmed(prompts, messages, typed)).toEqual(wanted);
  });
});
