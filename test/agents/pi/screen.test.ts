import { describe, expect, it } from 'vitest';
import { pi } from '../../../agents/pi/driver.ts';
import { readPiScreen } from '../../../agents/pi/screen.ts';
import { type RecordedScreen, recordedScreens } from '../../support/recorded-screens.ts';

const recorded = recordedScreens('pi-0.73.1', 'pi');

/** The expected result for a name. */
function expected({ name }: RecordedScreen): object {
  switch (name.split('-')[0]) {
    case 'empty':
      return { kind: 'empty', busy: false };
    case 'busy':
      return name.includes('draft') ? { kind: 'draft', busy: true } : { kind: 'empty', busy: true };
    case 'draft':
      return { kind: 'draft', busy: false };
    case 'menu':
      return { kind: 'menu' };
    case 'mode':
      return { kind: 'shellMode' };
    case 'dialog':
      return { kind: 'dialog' };
    case 'copy':
      return { kind: 'copyMode' };
    case 'shell':
      return { kind: 'shell' };
    default:
      throw new Error(`what must be concluded from ${name}?`);
  }
}

const isSafe = ({ name }: RecordedScreen) => /^(?:empty|busy)/.test(name) && !name.includes('draft');

describe("a recorded screen of pi's", () => {
  it('is there in three sizes', () => {
    expect(recorded.length).toBeGreaterThan(110);
  });

  it.each(recorded)('is read right: $path', (one) => {
    expect(readPiScreen(one.ansi, one.facts)).toMatchObject(expected(one));
  });

  it.each(recorded.filter((one) => !isSafe(one) && !one.facts.inMode && !one.name.startsWith('shell')))(
    'is never empty without the facts from tmux: $path',
    (one) => {
      expect(readPiScreen(one.ansi).kind).not.toBe('empty');
    },
  );

  it.each(recorded.filter(isSafe))('is not empty without the cursor that pi draws: $path', ({ ansi, facts }) => {
    expect(readPiScreen(ansi.replaceAll('\u001b[7m', ''), facts).kind).not.toBe('empty');
  });
});

describe("pi's box", () => {
  it.each([
    ['draft-one-line', 'a half written thought'],
    ['draft-many-lines', 'first line\nsecond line\nthird line'],
    ['busy-with-draft', 'typed while busy'],
    ['mode-bang-command', '!ls -l'],
  ])('%s is read as it was written, in every size', (name, text) => {
    const all = recorded.filter((one) => one.name === name);
    expect(all.length).toBe(3);
    for (const one of all) expect(readPiScreen(one.ansi, one.facts)).toMatchObject({ text });
  });

  it('may show a long text as a placeholder', () => {
    for (const one of recorded.filter(({ name }) => name === 'draft-pasted-block')) {
      const screen = readPiScreen(one.ansi, one.facts);
      expect(pi.screen.boxHolds(screen, 'x'.repeat(3_000))).toBe('maybe');
      expect(pi.screen.boxHolds(screen, 'hello')).toBe('maybe');
    }
  });
});

describe('a text for pi', () => {
  it.each(['!ls', ' !ls', '\n!ls', '/quit', ' /compact now', '/'])('is refused if pi would run it: %j', (text) => {
    expect(pi.typing.refuse(text)).toMatch(/Put a word before it/);
  });

  it.each(['hello!', '/usr/bin is full', 'a /quit', '@file'])('is typed if it is text: %j', (text) => {
    expect(pi.typing.refuse(text)).toBeUndefined();
  });
});
