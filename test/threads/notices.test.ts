// A screen in a message: a user may answer a dialog by it, so nothing in it is hidden or left out silently.

import { describe, expect, it } from 'vitest';
import { screenBlock } from '../../threads/notices.ts';

const CUT = '-# ⚠️ This is only the end: what stands above it does not fit here.\n';

describe('a screen in a message', () => {
  it('shows hidden and reordering characters', () => {
    expect(screenBlock('echo \u202eevil\u202c ok\u200b')).toBe('```\necho ⟨U+202E⟩evil⟨U+202C⟩ ok⟨U+200B⟩\n```');
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
