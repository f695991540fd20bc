import { describe, expect, it } from 'vitest';
import { gemini } from '../../../agents/gemini/driver.ts';
import type { AgentDialog } from '../../../agents/screen.ts';
import { isSafeScreen, screensOf, withoutColours } from '../../support/recorded-screens.ts';

const { recorded, find, read, readNamed } = screensOf('gemini');
const dialogOf = (name: string, size?: string) => readNamed(name, size) as AgentDialog;

describe('the box of Gemini CLI', () => {
  it('is not empty while the cursor is elsewhere: the keys may go to a command', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(read(ansi, { ...facts, cursorY: 2 }).kind).toBe('aside');
    expect(read(ansi, { ...facts, cursorX: 9 }).kind).toBe('aside');
    expect(withoutColours(find('aside-command-has-keys'))).toContain('Type your message');
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

  it.each([
    'Allow execution of [ls]?',
    'Do you trust the files in this folder?',
    'Answer Questions',
    'Get started',
    'Apply this change?',
    'rm -rf build # Esc to cancel',
  ])('is read in full, with its own title, although its command has the line %s', (line) => {
    const { ansi, facts } = find('dialog-permission-shell');
    const inside = (text: string) => `│ │ ${text.padEnd(Number(facts.width) - 8)} │ │`;
    const rows = ansi.split('\n');
    const at = rows.findLastIndex((row) => row.includes('│ curl') || /│.*│.*curl/.test(row));
    const more = [line, 'rm -rf ~', line];
    const changed = [...rows.slice(more.length, at + 1), ...more.map(inside), ...rows.slice(at + 1)].join('\n');
    const dialog = read(changed, facts) as AgentDialog;
    expect(dialog).toMatchObject({ which: 'permission', title: 'Allow execution of [Shell]?' });
    expect(dialog.text.slice(-3)).toEqual(more);
    expect(dialog.options.map(({ key }) => key)).toEqual(['1', '2', '3']);
  });

  it('keeps indents and empty lines of a command', () => {
    const recording = find('dialog-permission-shell');
    const rows = withoutColours(recording).split('\n');
    const at = rows.findLastIndex((row) => /│ curl/.test(row));
    const plain = rows[at] ?? '';
    const row = (words: string) => plain.replace(/curl.*?(?= │)/u, (all) => words.padEnd(all.length));
    const script = ['if ready:', '', '    remove()'].map(row);
    const all = [...rows.slice(0, at), ...script, ...rows.slice(at + 1)].slice(-rows.length);
    const dialog = read(all.join('\n'), recording.facts) as AgentDialog;
    expect(dialog.text.slice(-3)).toEqual(['if ready:', '', '    remove()']);
  });

  it('has no title if a part of what is to be allowed is hidden', () => {
    for (const { path, ansi, facts } of recorded.filter(({ name }) => name === 'dialog-permission-long')) {
      const dialog = read(ansi, facts) as AgentDialog;
      const whole = dialog.text.join(' ').split('one two three four').length === 13;
      expect(dialog.title === '', path).toBe(!whole);
    }
  });

  it('has no title if the pane has no room for the command', () => {
    const { ansi, facts } = find('dialog-permission-shell');
    const rows = ansi.split('\n');
    const at = rows.findIndex((row) => row.includes('curl') && /│.*│.*│.*│/u.test(row));
    expect(at).toBeGreaterThan(0);
    const without = ['', ...rows.toSpliced(at, 1)].join('\n');
    expect(read(ansi, facts)).toMatchObject({ which: 'permission', title: 'Allow execution of [Shell]?' });
    expect(read(without, facts)).toMatchObject({ which: 'permission', title: '' });
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
    const typed = recorded.filter(isSafeScreen);
    const all = typed.map((one) => {
      const lines = boxLines(withoutColours(one), 'x', size);
      expect(lines).toHaveLength(2);
      for (const line of lines) expect(withoutColours(one), one.path).toMatch(new RegExp(line, 'm'));
      return lines;
    });
    for (const one of recorded.filter(({ name }) => name.startsWith('dialog-')))
      for (const lines of all)
        expect(
          lines.every((line) => new RegExp(line, 'm').test(withoutColours(one))),
          one.path,
        ).toBe(false);
  });

  it('is recognised in the box, as far as it is shown', () => {
    const screen = readNamed('draft-many-lines');
    expect(gemini.screen.boxHolds(screen, 'first line\nsecond line\nthird line')).toBe('yes');
    expect(gemini.screen.boxHolds(screen, 'another text')).toBe('no');
    const block = readNamed('draft-pasted-block');
    expect(gemini.screen.boxHolds(block, 'x'.repeat(3_000))).toBe('maybe');
  });

  it('is counted where it was submitted, not in the box', () => {
    expect(gemini.screen.timesShown(withoutColours(find('empty-after-reply')), 'hello there')).toBe(1);
    expect(gemini.screen.timesShown(withoutColours(find('busy-with-queue')), 'queued while busy')).toBe(1);
    expect(gemini.screen.timesShown(withoutColours(find('draft-one-line')), 'a half written thought')).toBe(0);
  });
});
