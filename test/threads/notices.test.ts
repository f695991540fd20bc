// A screen in a message: a user may answer a dialog by it, so nothing in it is hidden or left out silently.

import { describe, expect, it } from 'vitest';
import { screenBlock, screenExcerpt } from '../../threads/notices.ts';

const CUT = '-# Only the end is shown. What is above it does not fit here.\n';

describe('a screen in a message', () => {
  it('shows hidden and reordering characters', () => {
    expect(screenBlock('echo \u202eevil\u202c ok\u200b')).toBe('```\necho ⟨U+202E⟩evil⟨U+202C⟩ ok⟨U+200B⟩\n```');
  });

  it('shows words that are written from right to left in their places', () => {
    expect(screenBlock('cp א ב')).toBe('```\ncp \u200eא\u200e \u200eב\u200e\n```');
  });

  it('shows the special space of a prompt as a space', () => {
    expect(screenBlock('❯\u00a0hello\n\n')).toBe('```\n❯ hello\n```');
  });

  it.each([
    ['lines', Array.from({ length: 60 }, (_, at) => `line ${at}`).join('\n'), 'line 59'],
    ['text', `rm -rf /\n${'y'.repeat(100)}\n`.repeat(30), 'y'.repeat(100)],
    ['hidden characters', `first\n${'\u200b'.repeat(20)}\n`.repeat(30), '⟨U+200B⟩'.repeat(20)],
    ['backticks', '`'.repeat(3_000), '`'],
    ['one line', `${'x'.repeat(5_000)}end`, 'xend'],
  ])('says that its top is cut off: too many %s', (_, screen, end) => {
    const shown = screenBlock(screen);
    expect(shown.startsWith(`${CUT}\`\`\`\n`)).toBe(true);
    expect(shown.trimEnd().endsWith(`${end}\n\`\`\``) || screen.includes('`')).toBe(true);
    expect(shown.length).toBeLessThan(1_700);
  });

  it('does not mention blank lines that are left out', () => {
    expect(screenBlock(`${'\n'.repeat(50)}end`)).not.toContain(CUT);
  });
});

describe('an excerpt of a screen', () => {
  it('has at most 8 lines of 60 columns, without frames, empty lines and the common margin', () => {
    const rows = Array.from({ length: 30 }, (_, n) => `   line ${n} ${'x'.repeat(200)}`);
    const lines = screenExcerpt(['─'.repeat(200), ...rows, '', '╭────╮', '   last'].join('\n'))
      .split('\n')
      .slice(1, -1);
    expect(lines).toHaveLength(8);
    expect(lines.map((line) => line.length)).toEqual([...Array(7).fill(60), 4]);
    expect(lines[0]).toMatch(/^line 23 x+…$/);
    expect(lines.at(-1)).toBe('last');
  });

  it('counts wide characters as two columns, and hides nothing', () => {
    expect(screenExcerpt('漢'.repeat(50))).toBe(`\`\`\`\n${'漢'.repeat(29)}…\n\`\`\``);
    expect(screenExcerpt('a\u202eb ```c')).toBe('```\na⟨U+202E⟩b ``⟨U+0060⟩c\n```');
    expect(screenExcerpt('\n ─── \n')).toBe('```\n⟨empty⟩\n```');
  });
});
