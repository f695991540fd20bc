import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { opencode } from '../../../agents/opencode/driver.ts';
import { pi } from '../../../agents/pi/driver.ts';
import { type RecordedScreen, screensOf } from '../../support/recorded-screens.ts';

const { recorded } = screensOf('opencode');
const size = { width: 120, height: 40 };

/** Whether a line of the screen matches, as tmux would say. */
const shows = ({ ansi }: RecordedScreen, pattern: string) =>
  new RegExp(pattern, 'm').test(stripVTControlCharacters(ansi));
const of = (names: RegExp) => recorded.filter(({ name }) => names.test(name));

describe('what tmux checks while a text is typed into OpenCode', () => {
  const [box = ''] = opencode.typing.boxLines('', 'hello', size);
  const list = opencode.screen.dialogLine ?? '';

  it('finds the box on every screen that takes a text', () => {
    for (const one of of(/^(?:empty|busy|draft)-/)) expect(shows(one, box), one.path).toBe(true);
  });

  it('finds no box beside a permission or a question', () => {
    for (const one of of(/^(?:dialog-(?:permission|question)|view|shell)/))
      expect(shows(one, box), one.path).toBe(false);
  });

  it('finds every list that floats over the box, and no list elsewhere', () => {
    for (const one of of(/^dialog-list/)) expect(shows(one, list), one.path).toBe(true);
    for (const one of of(/^(?:empty|busy|draft)-/)) expect(shows(one, list), one.path).toBe(false);
  });
});

describe('a text in the box of OpenCode', () => {
  const holds = (name: string, text: string) =>
    recorded
      .filter((one) => one.name === name)
      .map(({ ansi, facts }) => opencode.screen.boxHolds(opencode.screen.read(ansi, facts), text));

  it('is recognised, also where OpenCode shows a placeholder', () => {
    expect(new Set(holds('draft-one-line', 'a half written thought'))).toEqual(new Set(['yes']));
    expect(new Set(holds('draft-one-line', 'another'))).toEqual(new Set(['no']));
    expect(new Set(holds('draft-many-lines', 'first line\nsecond line\nthird line'))).toEqual(new Set(['maybe']));
    expect(new Set(holds('draft-wrapped', 'the quick brown fox jumps over the lazy dog '.repeat(3)))).toEqual(
      new Set(['yes']),
    );
    expect(new Set(holds('empty-fresh', 'hello'))).toEqual(new Set(['no']));
  });

  it('is counted in the conversation, and not in the box', () => {
    for (const one of of(/^busy-with-draft$/)) {
      const screen = stripVTControlCharacters(one.ansi);
      expect(opencode.screen.timesShown(screen, 'slow 6'), one.path).toBe(1);
      expect(opencode.screen.timesShown(screen, 'typed while busy'), one.path).toBe(0);
    }
    for (const one of of(/^busy-with-queue$/))
      expect(opencode.screen.timesShown(stripVTControlCharacters(one.ansi), 'queued while busy'), one.path).toBe(1);
  });
});

describe('a text for OpenCode', () => {
  it.each(['exit', ' quit\n', ':q'])('is refused if it would end the program: %j', (text) => {
    expect(opencode.typing.refuse(text)).toMatch(/`!kill`/);
  });

  it.each(['exit now', '!ls', '/exit', 'please quit'])('is typed if it is text: %j', (text) => {
    expect(opencode.typing.refuse(text)).toBeUndefined();
  });

  it('never interrupts with Ctrl-C, which ends OpenCode if its box is empty', () => {
    expect(opencode.typing.interrupt).toEqual(['Escape', 'Escape']);
  });
});

describe('what tmux checks while a text is typed into pi', () => {
  it('finds lists of pi, and none on a screen that takes a text', () => {
    const { recorded: screens } = screensOf('pi');
    const list = pi.screen.dialogLine ?? '';
    const found = screens.filter(({ name }) => name.startsWith('dialog-')).filter((one) => shows(one, list));
    expect(found.length).toBeGreaterThan(5);
    for (const one of screens.filter(({ name }) => /^(?:empty|busy)-/.test(name)))
      expect(shows(one, list), one.path).toBe(false);
  });
});
