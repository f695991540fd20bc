import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteShellWord, unquoteShellWord } from '../../core/shell-word.ts';

describe('a quoted word', () => {
  it('is parsed back unchanged', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !text.includes('\0')),
        (word) => {
          expect(unquoteShellWord(quoteShellWord(word))).toBe(word);
        },
      ),
    );
  });

  it.each(['', "it's", '\\', "\\'", '$(touch x)`y`', 'a\nb', '#{pid} ~ ;'])('is %j to the shell', (word) => {
    expect(execFileSync('sh', ['-c', `printf %s ${quoteShellWord(word)}`], { encoding: 'utf8' })).toBe(word);
  });

  it.each(['plain', "'a' 'b'", "'open", '"double"', "'a'b"])('is not found in %j', (text) => {
    expect(unquoteShellWord(text)).toBeUndefined();
  });
});
