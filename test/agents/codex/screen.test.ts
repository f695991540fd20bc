import { describe, expect, it } from 'vitest';
import { codex } from '../../../agents/codex/driver.ts';
import { type AgentDialog, isCutDialog } from '../../../agents/screen.ts';
import { isSafeScreen, screensOf, withoutColours } from '../../support/recorded-screens.ts';

const { recorded, find, read, readNamed } = screensOf('codex');
const dialogOf = (name: string, size?: string) => readNamed(name, size) as AgentDialog;

describe("Codex's box", () => {
  it('is not empty while the cursor is elsewhere, hidden or not at its start', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(read(ansi, { ...facts, cursorY: 3 }).kind).toBe('aside');
    expect(read(ansi, { ...facts, cursorX: 9 }).kind).toBe('aside');
    expect(read(ansi, { ...facts, cursorShown: false }).kind).toBe('aside');
  });
});

describe("a dialog of Codex's", () => {
  it('has the whole command and the keys of its options', () => {
    const { title, text, options, form } = dialogOf('dialog-permission-shell');
    expect(title).toBe('Would you like to run the following command?');
    expect(text).toContain('$ curl http://127.0.0.1:1/');
    expect(form).toBe('choice');
    expect(options.map(({ key }) => key)).toEqual(['y', 'p', 'Escape']);
    expect(options[2]?.label).toBe('No, and tell Codex what to do differently');
  });

  it('is not confused by a command that looks like an option', () => {
    const { options, text } = dialogOf('dialog-permission-long', '200x50');
    expect(options).toHaveLength(3);
    expect(text.join(' ')).toContain('echo 1. Yes, proceed');
  });

  /** The dialog for `curl`, with other rows around it. */
  function changed(edit: (rows: readonly string[], title: number, command: number) => readonly string[]): AgentDialog {
    const { ansi, facts } = find('dialog-permission-shell');
    const rows = ansi.split('\n');
    const title = rows.findIndex((row) => row.includes('Would you like to'));
    const command = rows.findIndex((row) => row.startsWith('  $ '));
    const all = edit(rows, title, command);
    return read(all.slice(all.length - rows.length).join('\n'), facts) as AgentDialog;
  }

  it.each([
    ['another title', ['Would you like to run the following command?', '', '$ ls']],
    ['the title of a panel', ['Keymap', 'Select Model and Effort']],
    ['the words of a longer command', ['[… 3 lines] ^a view all']],
    ['options', ['1. Yes, proceed (y)', '2. No, and tell Codex what to do differently (esc)']],
    ['a highlighted option', ['› 1. Yes, proceed (y)', '2. No (esc)']],
    ['its last line', ['Press enter to confirm or esc to cancel', '']],
    ['empty lines', ['', '', '', 'Do you want to list the files?']],
    ['rules', ['─'.repeat(100), '↓']],
  ])('is read in full, with its own kind and options, although its command has %s', (_, lines) => {
    const more = ['rm -rf ~', ...lines, 'rm -rf /'];
    const dialog = changed((rows, _title, at) => [
      ...rows.slice(0, at),
      ...more.map((line) => (line === '' ? '' : `  ${line}`)),
      ...rows.slice(at + 1),
    ]);
    expect(dialog).toMatchObject({ which: 'permission', full: false });
    for (const line of more) expect([dialog.title, ...dialog.text, '']).toContain(line);
    expect(dialog.options.map(({ key }) => key)).toEqual(['y', 'p', 'Escape']);
  });

  it.each(['  Keymap', '  Select Model', '  Question 1/1', '  Warnings · 1'])(
    'for a permission is one also below text of the agent such as %j',
    (line) => {
      const dialog = changed((rows, title) => [
        ...rows.slice(0, title - 4),
        '• Text of the agent:',
        '',
        line,
        ...rows.slice(title - 2),
      ]);
      expect(dialog).toMatchObject({ which: 'permission', full: false });
      expect(dialog.text).toContain('$ curl http://127.0.0.1:1/');
    },
  );

  it('keeps indents and empty lines of a command', () => {
    const script = ["  $ python3 - <<'E'", '  if ready:', '', '      remove()', '  E'];
    const { text } = changed((rows, _, at) => [...rows.slice(0, at), ...script, ...rows.slice(at + 1)]);
    expect(text.slice(-5)).toEqual(["$ python3 - <<'E'", 'if ready:', '', '    remove()', 'E']);
  });

  it('that is not known is read in full although its text has the title of another one', () => {
    const dialog = changed((rows, title, at) => [
      ...rows.slice(0, title),
      '  Give this program access to everything?',
      ...rows.slice(title + 1, at),
      '  Allow reading a file?',
      ...rows.slice(at + 1),
    ]);
    expect([dialog.title, ...dialog.text].join('\n')).toContain('access to everything?');
    expect(dialog.text).toContain('Allow reading a file?');
  });

  it.each([
    ['nothing else', ['ls']],
    ['the words of its title', ['Would you like to run the following command?', '', '$ ls']],
    ['the words of its title below empty lines', ['', '', 'Would you like to run the following command?', '', '$ ls']],
  ])('has no title if the screen begins inside its command, which has %s', (_, lines) => {
    const dialog = changed((rows, _title, at) => [
      ...Array.from(rows, () => '  rm -rf ~'),
      ...lines.map((line) => (line === '' ? '' : `  ${line}`)),
      ...rows.slice(at + 1),
    ]);
    expect(dialog).toMatchObject({ which: 'permission', full: false, title: '' });
    expect(dialog.text).toContain('rm -rf ~');
  });

  it('has no title if a part of what is to be allowed is hidden', () => {
    expect(dialogOf('dialog-permission-write').title).toBe('');
  });

  it('for a question is answered by a digit, and knows that notes are being written', () => {
    const { title, options, field } = dialogOf('dialog-question');
    expect(title).toBe('Which database should we use?');
    expect(options.map(({ label, key }) => `${key} ${label}`)).toEqual([
      ...['1 SQLite', '2 Postgres', '3 DuckDB', '4 None of the above'],
    ]);
    expect(field).toBeUndefined();
    expect(dialogOf('dialog-question-notes').field).toBe('empty');
    expect(dialogOf('dialog-question-notes-full').field).toBe('full');
  });

  it.each(['model', 'permissions', 'resume', 'keymap', 'warnings'])(
    'that the user opened is one of those: %s',
    (name) => {
      expect(dialogOf(`dialog-${name}`).full).toBe(true);
    },
  );
});

describe('a text for Codex', () => {
  const { refuse, guard, boxLines, shownText } = codex.typing;
  const size = { width: 120, height: 40 };

  it.each(['!ls', '  !ls', '\n\t!rm -rf ~', '!', '\u200b !ls', '\u0085!ls', '\ufeff!ls'])(
    'is not typed if it would run a command: %j',
    (text) => {
      expect(refuse(text)).toContain('shell command');
    },
  );

  it.each(['hello!', 'a\n!b', '/status', '#1'])('is typed: %j', (text) => {
    expect(refuse(text)).toBeUndefined();
  });

  it('is kept from being a command or from opening a list', () => {
    expect(guard?.('/usr/bin is full')).toBe(' /usr/bin is full');
    expect(guard?.('look at @src')).toBe('look at @src ');
    expect(guard?.('hello')).toBe('hello');
  });

  it('is typed only while the line below the box is there, which no dialog has', () => {
    const typed = recorded.filter(isSafeScreen);
    const lines = typed.map((one) => {
      const [line = ''] = boxLines(withoutColours(one), 'x', size);
      expect(withoutColours(one), one.path).toMatch(new RegExp(line, 'm'));
      return line;
    });
    for (const one of recorded.filter(({ name }) => /^(?:dialog|agents)-/.test(name)))
      for (const line of new Set(lines)) expect(withoutColours(one), one.path).not.toMatch(new RegExp(line, 'm'));
  });

  it('is recognised in the box, as far as it is shown', () => {
    const screen = readNamed('draft-many-lines');
    expect(codex.screen.boxHolds(screen, 'first line\nsecond line\nthird line')).toBe('yes');
    expect(codex.screen.boxHolds(screen, 'another text')).toBe('no');
    const block = readNamed('draft-pasted-block');
    expect(codex.screen.boxHolds(block, 'x'.repeat(3_000))).toBe('maybe');
    expect(codex.screen.boxHolds(read('', {}), 'x')).toBe('maybe');
  });

  it('is counted where it was submitted, not in the box', () => {
    expect(codex.screen.timesShown(withoutColours(find('empty-after-reply')), 'hello there')).toBe(1);
    expect(codex.screen.timesShown(withoutColours(find('busy-with-queue')), 'queued while busy')).toBe(1);
    expect(codex.screen.timesShown(withoutColours(find('draft-one-line')), 'a half written thought')).toBe(0);
  });

  it('is awaited by its end, if that is long enough to be unique', () => {
    expect(shownText('please look at the tests')?.parts).toContain('pleaselookatthetests');
    expect(shownText('hi')?.parts).toEqual(['[PastedContent']);
  });
});

describe('the approval of a tool of an MCP server', () => {
  it('has its question as the title, and its arguments as the text', () => {
    const dialog = dialogOf('dialog-permission-tool');
    expect(dialog.title).toBe('Allow the files MCP server to run tool "run"?');
    expect(dialog.text).toEqual(['Field 1/1', 'depth: 2', 'path: notes.md']);
    expect(isCutDialog(readNamed('dialog-permission-tool'))).toBe(false);
  });

  it('stays the same while the highlighted option moves, and each option has its key', () => {
    const [first, second] = ['', '-second'].map((end) => dialogOf(`dialog-permission-tool${end}`));
    expect(second?.text).toEqual(first?.text);
    expect(second?.options.map(({ key }) => key)).toEqual(['1', '2', '3', '4']);
  });

  it('counts as cut if an argument is, or if there may be more of them', () => {
    expect(isCutDialog(readNamed('dialog-permission-tool-long'))).toBe(true);
    const { ansi, facts } = find('dialog-permission-tool');
    const shows = (from: string, to: string) => isCutDialog(read(ansi.replace(from, to), facts));
    expect(shows('depth: 2', `depth: ${'x'.repeat(57)}...`)).toBe(true);
    expect(shows('path: notes.md\n\n', 'path: notes.md\n  quiet: true\n')).toBe(true);
    expect(shows('depth: 2', 'depth: 3')).toBe(false);
  });
});
