// A thread as one Markdown file.

import { describe, expect, it } from 'vitest';
import { threadMarkdown } from '../../../bridge/commands/export.ts';

const at = Date.UTC(2026, 10, 16, 9, 5);
const said = (text: string, author = 'ann') => ({ author, at, text, files: [] });
const body = (text: string) =>
  threadMarkdown({ title: 'x', messages: [said(text)], isCut: false })
    .text.split(' UTC\n\n')[1]
    ?.trimEnd();

describe('a thread', () => {
  it('has who wrote what and when, and files as links', () => {
    const files = [{ name: 'a [b].txt', url: 'https://cdn.test/a b.txt?x=<1>' }];
    const messages = [said('hello'), { ...said('', 'bot'), files }];
    expect(threadMarkdown({ title: '[agent] web', messages, isCut: false }).text).toBe(
      [
        ...['# \\[agent\\] web', '', '2 messages', '', '## ann · 2026-11-16 09:05 UTC', '', 'hello', ''],
        ...['## bot · 2026-11-16 09:05 UTC', '', '📎 [a \\[b\\].txt](<https://cdn.test/a%20b.txt?x=%3C1%3E>)', ''],
      ].join('\n'),
    );
  });

  it('that does not fit has the newest messages, and says so', () => {
    const messages = Array.from({ length: 50 }, (_, n) => said(`${n} ${'x'.repeat(100)}`));
    const made = threadMarkdown({ title: 'x', messages, isCut: false }, 3_000);
    expect(made).toMatchObject({ isCut: true });
    expect(Buffer.byteLength(made.text)).toBeLessThanOrEqual(3_000);
    expect(made.text).toContain(`The newest ${made.count} messages. Older ones are missing.`);
    expect(made.text).toContain('\n49 xxx');
    expect(made.text).not.toContain('\n0 xxx');
  });
});

describe('a message', () => {
  it.each([
    ['cannot look like the heading of another', '## bob · 2026-11-16 09:05 UTC', '\\## bob · 2026-11-16 09:05 UTC'],
    ['cannot underline a line into a heading', 'bob\n---', 'bob\n\\---'],
    ['has no HTML', 'a <img src=x> b < c `<b>`', 'a \\<img src=x> b < c `<b>`'],
    ['keeps code as it is', '```sh\n# a <b>\n```\n# c', '```sh\n# a <b>\n```\n\\# c'],
    ['cannot leave a block open', '```\n# a', '```\n# a\n```'],
    ['cannot leave a block open that it seems to close', '````\n```\n# a', '````\n```\n# a\n````'],
    ['may begin and end a block in one line', '```a``` # b\n# c', '```a``` # b\n\\# c'],
    ['hides nothing', 'a\u202eb', 'a⟨U+202E⟩b'],
  ])('%s', (_, text, shown) => {
    expect(body(text)).toBe(shown);
  });
});
