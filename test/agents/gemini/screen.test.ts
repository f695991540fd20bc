import { describe, expect, it } from 'vitest';
import { gemini } from '../../../agents/gemini/driver.ts';
import { readGeminiScreen } from '../../../agents/gemini/screen/screen.ts';
import type { AgentDialog } from '../../../agents/screen.ts';
import { type RecordedScreen, recordedScreens } from '../../support/recorded-screens.ts';

const recorded = recordedScreens('gemini-0.61.0', 'node');
const find = (name: string, size = '120x40') => {
  const found = recorded.find(({ path }) => path.endsWith(`${size}/${name}`));
  if (found === undefined) throw new Error(`${name} is not recorded`);
  return found;
};
const dialogOf = (name: string, size?: string) => {
  const { ansi, facts } = find(name, size);
  return readGeminiScreen(ansi, facts) as AgentDialog;
};
const plain = ({ ansi }: RecordedScreen) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking the colours off
  ansi.replace(/\u001b\[[\d;]*m/g, '');

const MODES: Readonly<Record<string, string>> = {
  'empty-accept-edits': 'acceptEdits',
  'empty-plan-mode': 'plan',
  'empty-yolo': 'yolo',
};

/** The expected result for a name. */
function expected({ name }: RecordedScreen): object {
  const [first = '', second = ''] = name.split('-');
  switch (first) {
    case 'empty':
      return { kind: 'empty', busy: false, mode: MODES[name] ?? '' };
    case 'busy':
      return name.includes('draft') ? { kind: 'draft', busy: true } : { kind: 'empty', busy: true };
    case 'dialog':
      return { kind: 'dialog', which: second };
    case 'draft':
      return { kind: 'draft', busy: false };
    case 'mode':
      return { kind: 'shellMode' };
    case 'copy':
      return { kind: 'copyMode' };
    default:
      return { kind: first };
  }
}

describe('a recorded screen of Gemini CLI', () => {
  it('is there in three sizes', () => {
    expect(recorded.length).toBeGreaterThan(190);
  });

  it.each(recorded)('is read right: $path', (one) => {
    expect(readGeminiScreen(one.ansi, one.facts)).toMatchObject(expected(one));
  });

  it.each(recorded)('is never empty without the facts from tmux, unless its name says so: $path', (one) => {
    const mayBe = /^(?:empty|busy)-/.test(one.name) && !one.name.includes('draft');
    if (!mayBe && one.name !== 'copy-mode') expect(readGeminiScreen(one.ansi).kind).not.toBe('empty');
  });

  it.each(recorded)('is never empty without its colours: $path', (one) => {
    expect(readGeminiScreen(plain(one), one.facts).kind).not.toBe('empty');
  });
});

describe('the box of Gemini CLI', () => {
  it.each([
    ['draft-one-line', 'a half written thought'],
    ['draft-cursor-at-start', 'a half written thought'],
    ['draft-many-lines', 'first line\nsecond line\nthird line'],
    ['draft-pasted-block', '[Pasted Text: 3000 chars]'],
    ['busy-with-draft', 'typed while busy'],
    ['draft-at', '@proj'],
    ['mode-bang-command', 'ls -l'],
  ])('%s is read as it was written, in every size', (name, text) => {
    const all = recorded.filter((one) => one.name === name);
    expect(all.length).toBe(3);
    for (const one of all) expect(readGeminiScreen(one.ansi, one.facts)).toMatchObject({ text });
  });

  it('is not empty while the cursor is elsewhere: the keys may go to a command', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(readGeminiScreen(ansi, { ...facts, cursorY: 2 }).kind).toBe('aside');
    expect(readGeminiScreen(ansi, { ...facts, cursorX: 9 }).kind).toBe('aside');
    expect(plain(find('aside-command-has-keys'))).toContain('Type your message');
  });

  it('on the screen of a Gemini CLI that has exited is not a live box', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(readGeminiScreen(ansi, { ...facts, currentCommand: 'bash' })).toEqual({ kind: 'shell', suspended: false });
    expect(readGeminiScreen(ansi, { ...facts, currentCommand: 'vim' })).toMatchObject({ kind: 'otherProgram' });
    expect(readGeminiScreen(ansi, { ...facts, paneDead: true })).toEqual({ kind: 'dead' });
  });

  it('says that a message is queued', () => {
    const { ansi, facts } = find('busy-with-queue');
    expect(readGeminiScreen(ansi, facts)).toMatchObject({ kind: 'empty', busy: true, queued: true });
  });
});

describe('a dialog of Gemini CLI', () => {
  it('has the whole command and a digit for each option', () => {
    const { title, text, options, form } = dialogOf('dialog-permission-shell');
    expect(title).toBe('Allow execution of [Shell]?');
    expect(text).toContain('curl http://127.0.0.1:1/');
    expect(form).toBe('choice');
    expect(options.map(({ label, key }) => `${key} ${label}`)).toEqual([
      ...['1 Allow once', '2 Allow for this session', '3 No, suggest changes'],
    ]);
  });

  it('is not confused by a command that looks like an option', () => {
    const { options, text } = dialogOf('dialog-permission-long', '200x50');
    expect(options.map(({ key }) => key)).toEqual(['1', '2', '3']);
    expect(text.join(' ')).toContain('echo 1. Allow once');
  });

  it('has no title if a part of what is to be allowed is hidden', () => {
    for (const { path, ansi, facts } of recorded.filter(({ name }) => name === 'dialog-permission-long')) {
      const dialog = readGeminiScreen(ansi, facts) as AgentDialog;
      const whole = dialog.text.join(' ').split('one two three four').length === 13;
      expect(dialog.title === '', path).toBe(!whole);
    }
  });

  it('for a question has its text as the title, and the field for own words is no option with a key', () => {
    const { title, options } = dialogOf('dialog-question');
    expect(title).toBe('Which database should we use?');
    expect(options.map(({ label, key }) => [label, key])).toContainEqual(['Postgres', '2']);
    for (const { label, key } of options) if (/custom/.test(label)) expect(key).toBeUndefined();
  });

  it('with several answers is not answered by one key', () => {
    expect(dialogOf('dialog-question-two-ticked').form).toBe('unknown');
  });

  it.each(['model', 'settings', 'theme'])('that the user opened is one of those: %s', (name) => {
    expect(dialogOf(`dialog-${name}`).full).toBe(true);
  });
});

describe('a text for Gemini CLI', () => {
  const { guard, boxLines } = gemini.typing;
  const size = { width: 120, height: 40 };

  it('is kept from being a command, from opening a list and from breaking the line', () => {
    expect(guard?.('/quit')).toBe('\u2060/quit');
    expect(guard?.(' /quit')).toBe('\u2060 /quit');
    expect(guard?.('look at @src')).toBe('look at @src ');
    expect(guard?.('a \\')).toBe('a \\ ');
    expect(guard?.('hello!')).toBe('hello!');
  });

  it('is typed only while the lines around the box are there, which no dialog has', () => {
    const typed = recorded.filter(({ name }) => /^(?:empty|busy)-/.test(name) && !name.includes('draft'));
    const all = typed.map((one) => {
      const lines = boxLines(plain(one), 'x', size);
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(plain(one), one.path).toMatch(new RegExp(line, 'm'));
      return lines;
    });
    for (const one of recorded.filter(({ name }) => name.startsWith('dialog-')))
      for (const lines of all)
        expect(
          lines.every((line) => new RegExp(line, 'm').test(plain(one))),
          one.path,
        ).toBe(false);
  });

  it('is recognised in the box, as far as it is shown', () => {
    const { ansi, facts } = find('draft-many-lines');
    const screen = readGeminiScreen(ansi, facts);
    expect(gemini.screen.boxHolds(screen, 'first line\nsecond line\nthird line')).toBe('yes');
    expect(gemini.screen.boxHolds(screen, 'another text')).toBe('no');
    const block = readGeminiScreen(find('draft-pasted-block').ansi, find('draft-pasted-block').facts);
    expect(gemini.screen.boxHolds(block, 'x'.repeat(3_000))).toBe('maybe');
  });

  it('is counted where it was submitted, not in the box', () => {
    expect(gemini.screen.timesShown(plain(find('empty-after-reply')), 'hello there')).toBe(1);
    expect(gemini.screen.timesShown(plain(find('busy-with-queue')), 'queued while busy')).toBe(1);
    expect(gemini.screen.timesShown(plain(find('draft-one-line')), 'a half written thought')).toBe(0);
  });
});

describe('a screen that a host made too large', () => {
  it.each([
    ['columns', 'a'.repeat(8 * 2 ** 20)],
    ['rows', '\n'.repeat(8 * 2 ** 20)],
  ])('is not read: too many %s', (_, ansi) => {
    expect(readGeminiScreen(ansi, { width: 10_000 }).kind).toBe('unknown');
  });
});
