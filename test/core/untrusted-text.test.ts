import { describe, expect, it } from 'vitest';
import { ThreadmuxError } from '../../core/errors.ts';
import { untrustedCode, untrustedHint, untrustedReason, untrustedText } from '../../core/untrusted-text.ts';
import { connectionFailed } from '../../hosts/host-errors.ts';

const LINK = '[Tap here to reconnect](https://evil.example)';

describe('untrusted text', () => {
  it.each([
    [LINK, `\`${LINK}\``],
    ['a `b` ``` c', "`a 'b' ''' c`"],
    ['two\nlines', '`two lines`'],
    ['', '` `'],
    ['\u202eevil', '`⟨U+202E⟩evil`'],
  ])('cannot leave its code span: %j', (text, shown) => {
    expect(untrustedCode(text)).toBe(shown);
  });

  it('is cut, but never inside a character', () => {
    expect(untrustedCode('🚀'.repeat(300), 5)).toBe('`🚀🚀…`');
    expect(untrustedText('x'.repeat(5000)).length).toBeLessThan(700);
  });

  it('contains no active Markdown', () => {
    expect(untrustedText(`# ${LINK} <@1> **b**`)).toBe(
      '\\# \\[Tap here to reconnect\\](https://evil.example) \\<\\@1\\> \\*\\*b\\*\\*',
    );
  });

  it('is code in errors that are not ours, and in those of hosts', () => {
    expect(untrustedReason(new Error(LINK))).toBe(`\`${LINK}\``);
    expect(untrustedHint(new ThreadmuxError('busy', 'ours', { hint: 'Try `!help`.' }))).toBe('ours\nTry `!help`.');
    const ran = { stdout: '', stderr: `${LINK}\n`, status: 1, ended: 'itself' } as const;
    for (const begun of [true, false])
      expect(connectionFailed('web', 'web', 'look', ran, begun).message).toContain(`\`${LINK}\``);
  });
});
