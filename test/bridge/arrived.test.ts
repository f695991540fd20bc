// A text must be seen as submitted before the next one is typed, on every recorded screen.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { timesShown } from '../../agents/claude/typing.ts';
import { hasArrived } from '../../bridge/delivery-attempt.ts';

const SCREENS = fileURLToPath(new URL('../fixtures/screens', import.meta.url));
const VERSIONS = readdirSync(SCREENS).filter((name) => /^\d/.test(name)); // of Claude Code
const FOLDERS = VERSIONS.flatMap((version) => readdirSync(join(SCREENS, version)).map((size) => join(version, size)));

const shown = (folder: string, name: string) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not part of the text
  readFileSync(join(SCREENS, folder, `${name}.ansi`), 'utf8').replace(/\x1b\[[\d;]*m/g, '');

describe.for(FOLDERS)('a typed text on %s', (folder) => {
  it('is found in the queue', () => {
    const queue = shown(folder, 'busy-with-queue');
    expect(timesShown(queue, 'queued while busy')).toBe(1);
    expect(timesShown(queue, 'something else')).toBe(0);
  });

  it('is found in the conversation', () => {
    expect(timesShown(shown(folder, 'busy-with-queue'), 'slow 8')).toBe(1);
  });

  it('does not count as submitted while it is in the box', () => {
    const text = /^❯\s(.+)$/m.exec(shown(folder, 'draft-one-line'))?.[1]?.trim() ?? '';
    expect(text).not.toBe('');
    expect(timesShown(shown(folder, 'draft-one-line'), text)).toBe(0);
  });
});

describe('the next text', () => {
  const before = '❯ ok\n\n● Fine.\n────\n❯\u00a0\n────';
  const after = before.replace('────', '❯ ok\n────');

  it('waits until one more copy of the earlier one appears', () => {
    const standing = { text: 'ok', before, at: 0 };
    expect(hasArrived(standing, before, 500, { timesShown })).toBe(false);
    expect(hasArrived(standing, after, 500, { timesShown })).toBe(true);
  });

  it('does not wait forever for a text that the screen may never show', () => {
    expect(hasArrived({ text: 'ok', before, at: 0 }, before, 2_500, { timesShown })).toBe(true);
  });

  it('accepts the placeholder of a long paste for the text', () => {
    const text = 'a long story\n'.repeat(50);
    const screen = before.replace('────', '❯ [Pasted text #1 +49 lines]\n────');
    expect(hasArrived({ text, before, at: 0 }, screen, 500, { timesShown })).toBe(true);
  });
});
