import { createRequire } from 'node:module';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ThreadmuxError } from '../../core/errors.ts';
import {
  cutMessage,
  insideFence,
  untrustedCode,
  untrustedHint,
  untrustedReason,
  untrustedText,
} from '../../core/untrusted-text.ts';
import { connectionFailed } from '../../hosts/host-errors.ts';
import { outsideCode } from '../support/markdown.ts';

/** As on the page of the workspace; it has no types. */
const page = createRequire(import.meta.url)('markdown-it')({ html: false, linkify: true, breaks: true });

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

  it.each([
    'words\n===',
    'words\n ---',
    'a\n\n---\nb',
    'a\n- b\n- c',
    'a\n  + b',
    'a\n1. b\n22) c',
    'a|b\n:-:\nc',
    'a\n-# b',
    'a\n> b',
    'a\n# b',
  ])('is no heading, list, rule or table on the page either: %j', (text) => {
    expect(page.render(`🔔 ${untrustedText(text)}`)).not.toMatch(/<(?!\/?p>|br>)/);
  });

  it('is code in errors that are not ours, and in those of hosts', () => {
    expect(untrustedReason(new Error(LINK))).toBe(`\`${LINK}\``);
    expect(untrustedHint(new ThreadmuxError('busy', 'ours', { hint: 'Try `!help`.' }))).toBe('ours\nTry `!help`.');
    const ran = { stdout: '', stderr: `${LINK}\n`, status: 1, ended: 'itself' } as const;
    for (const begun of [true, false])
      expect(connectionFailed('web', 'web', 'look', ran, begun).message).toContain(`\`${LINK}\``);
  });
});

describe('a message that is cut', () => {
  it('shows no words from outside as Markdown, wherever it is cut', () => {
    const part = fc.constantFrom(
      ...[`\n${insideFence(`${LINK}\n${LINK}`)}\n`, ` ${untrustedCode(LINK)} `, ' It is in ', '\n', '🚀', '! '],
      `\n${insideFence('```')}\n`,
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.integer({ min: 10, max: 400 }), (parts, longest) => {
        const text = parts.join('');
        const cut = cutMessage(text, longest);
        expect(cut.length).toBeLessThanOrEqual(longest);
        if (text.length <= longest) expect(cut).toBe(text);
        expect(outsideCode(cut)).not.toMatch(/Tap|evil/);
        expect(cut.isWellFormed()).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });
});
