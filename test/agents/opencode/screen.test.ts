import { describe, expect, it } from 'vitest';
import { readOpencodeScreen } from '../../../agents/opencode/screen.ts';
import { type RecordedScreen, recordedScreens } from '../../support/recorded-screens.ts';

const recorded = recordedScreens('opencode-1.18.33', 'opencode');
const find = (name: string, size = '120x40') => {
  const found = recorded.find(({ path }) => path.endsWith(`${size}/${name}`));
  if (found === undefined) throw new Error(`${name} is not recorded`);
  return found;
};

/** The expected result for a name. */
function expected({ name }: RecordedScreen): object {
  const [first = '', second = ''] = name.split('-');
  switch (first) {
    case 'empty':
      return { kind: 'empty', busy: false, mode: name.includes('plan') ? 'plan' : 'build' };
    case 'busy':
      return name.includes('draft') ? { kind: 'draft', busy: true } : { kind: 'empty', busy: true };
    case 'draft':
      return { kind: 'draft', busy: false };
    case 'menu':
      return { kind: 'menu' };
    case 'mode':
      return { kind: 'shellMode' };
    case 'dialog':
      return { kind: 'dialog', which: second };
    case 'view':
      return { kind: 'subagent' };
    case 'copy':
      return { kind: 'copyMode' };
    case 'shell':
      return { kind: 'shell' };
    default:
      throw new Error(`what must be concluded from ${name}?`);
  }
}

describe("a recorded screen of OpenCode's", () => {
  it('is there in three sizes', () => {
    expect(recorded.length).toBeGreaterThan(220);
  });

  it.each(recorded)('is read right: $path', (one) => {
    expect(readOpencodeScreen(one.ansi, one.facts)).toMatchObject(expected(one));
  });

  it.each(recorded)('is never empty without the cursor: $path', (one) => {
    const { cursorX: _, cursorY: __, ...facts } = one.facts;
    expect(readOpencodeScreen(one.ansi, facts).kind).not.toBe('empty');
    expect(readOpencodeScreen(one.ansi, { ...one.facts, cursorShown: false }).kind).not.toBe('empty');
  });
});

describe("OpenCode's box", () => {
  it.each([
    ['draft-one-line', 'a half written thought'],
    ['draft-two-lines', 'first line\nsecond line'],
    ['draft-many-lines', '[Pasted ~3 lines]'],
    ['draft-pasted-block', '[Pasted ~1 lines]'],
    ['draft-home', 'first words'],
    ['busy-with-draft', 'typed while busy'],
    ['menu-at', '@proj'],
    ['mode-bang-command', 'ls -l'],
  ])('%s is read as it was written, in every size', (name, text) => {
    const all = recorded.filter((one) => one.name === name);
    expect(all.length).toBe(3);
    for (const one of all) expect(readOpencodeScreen(one.ansi, one.facts)).toMatchObject({ text });
  });

  it('says that a message is queued', () => {
    const { ansi, facts } = find('busy-with-queue');
    expect(readOpencodeScreen(ansi, facts)).toMatchObject({ kind: 'empty', queued: true });
  });

  it('does not count behind a list that floats over the page', () => {
    for (const one of recorded.filter(({ name }) => name.startsWith('dialog-list')))
      expect(one.ansi, one.path).toContain('╹'); // the box is still visible
  });

  it('on the screen of an OpenCode that has exited is not a live box', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(readOpencodeScreen(ansi, { ...facts, currentCommand: 'bash' })).toEqual({ kind: 'shell', suspended: false });
    expect(readOpencodeScreen(ansi, { ...facts, currentCommand: 'vim' })).toMatchObject({ kind: 'otherProgram' });
  });

  it('is not read from a screen that is cut', () => {
    const { ansi, facts } = find('empty-fresh');
    const lines = ansi.split('\n');
    expect(readOpencodeScreen(lines.slice(3).join('\n'), facts)).toEqual({ kind: 'unknown' });
  });

  it('is not imitated by text of the agent', () => {
    const { ansi, facts } = find('dialog-permission-shell');
    const box = ['  ┃', '  ┃', '  ┃', '  ┃  Build · Model', `  ╹${'▀'.repeat(75)}`];
    const lines = ansi.split('\n').map((line, at) => box[at - 2] ?? line);
    for (let cursorY = 0; cursorY < 10; cursorY++)
      expect(readOpencodeScreen(lines.join('\n'), { ...facts, cursorX: 5, cursorY, cursorShown: false }).kind).toBe(
        'dialog',
      );
  });
});

describe('a screen that a host made too large', () => {
  it.each([
    ['columns', 'a'.repeat(8 * 2 ** 20)],
    ['rows', '\n'.repeat(8 * 2 ** 20)],
  ])('is not read: too many %s', (_, ansi) => {
    expect(readOpencodeScreen(ansi, { width: 10_000 }).kind).toBe('unknown');
  });
});
