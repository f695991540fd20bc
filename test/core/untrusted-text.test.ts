import { describe, expect, it } from 'vitest';
import { ThreadmuxError } from '../../core/errors.ts';
import { untrustedCode, untrustedHint, untrustedReason, untrustedText } from '../../core/untrusted-text.ts';
import { connectionFailed } from '../../hosts/host-errors.ts';

const LINK = '[Tap here to reconnect](https://evil.example)';

describe('words from outside', () => {
  it.each([
    [LINK, `\`${LINK}\``],
    ['a `b` ``` c', "`a 'b' ''' c`"],
    ['two\nlines', '`two lines`'],
    ['', '` `'],
    ['\u202eevil', '`⟨U+202E⟩evil`'],
  ])('are code that they cannot end: %j', (text, shown) => {
    expect(untrustedCode(text)).toBe(shown);
  });

  it('are cut, never inside a character', () => {
    expect(untrustedCode('🚀'.repeat(300), 5)).toBe('`🚀🚀…`');
    expect(untrustedText('x'.repeat(5000)).length).toBeLessThan(700);
  });

  it('are text in which nothing is Markdown', () => {
    expect(untrustedText(`# ${LINK} <@1> **b**`)).toBe(
      '\\# \\[Tap here to reconnect\\](https://evil.example) \\<\\@1\\> \\*\\*b\\*\\*',
    );
  });

  it('are code in errors that are not ours, and in those of hosts', () => {
    expect(untrustedReason(new Error(LINK))).toBe(`\`${LINK}\``);
    expect(untrustedHint(new ThreadmuxError('busy', 'ours', { hint: 'Try `!help`.' }))).toBe('ours\nTry `!help`.');
    const ran = { stdout: '', stderr: `${LINK}\n`, status: 1, ended: 'itself' } as const;
    for (const begun of [true, false])
      expect(connectionFailed('web', 'web', 'look', ran, begun).message).toContain(`\`${LINK}\``);
  });
});
