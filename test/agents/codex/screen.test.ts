import { describe, expect, it } from 'vitest';
import { codex } from '../../../agents/codex/driver.ts';
import { readCodexScreen } from '../../../agents/codex/screen/screen.ts';
import type { AgentDialog } from '../../../agents/screen.ts';
import { type RecordedScreen, recordedScreens } from '../../support/recorded-screens.ts';

const recorded = recordedScreens('codex-0.166.0', 'node');
const find = (name: string, size = '120x40') => {
  const found = recorded.find(({ path }) => path.endsWith(`${size}/${name}`));
  if (found === undefined) throw new Error(`${name} is not recorded`);
  return found;
};
const dialogOf = (name: string, size?: string) => {
  const { ansi, facts } = find(name, size);
  return readCodexScreen(ansi, facts) as AgentDialog;
};
const plain = ({ ansi }: RecordedScreen) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking the colours off
  ansi.replace(/\u001b\[[\d;]*m/g, '');

/** The expected result for a name. */
function expected({ name }: RecordedScreen): object {
  const [first = '', second = ''] = name.split('-');
  switch (first) {
    case 'empty':
      return { kind: 'empty', busy: false, mode: /plan|question/.test(name) ? 'plan' : '' };
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
    case 'aside':
      return { kind: expect.stringMatching(/^(?:aside|unknown)$/) };
    default:
      return { kind: first };
  }
}

describe("a recorded screen of Codex's", () => {
  it('is there in three sizes', () => {
    expect(recorded.length).toBeGreaterThan(190);
  });

  it.each(recorded)('is read right: $path', (one) => {
    expect(readCodexScreen(one.ansi, one.facts)).toMatchObject(expected(one));
  });

  it.each(recorded)('is never empty without the facts from tmux, unless its name says so: $path', (one) => {
    const mayBe = /^(?:empty|busy)-/.test(one.name) && !one.name.includes('draft');
    if (!mayBe && one.name !== 'copy-mode') expect(readCodexScreen(one.ansi).kind).not.toBe('empty');
  });

  it.each(recorded)('is never empty without its colours: $path', (one) => {
    expect(readCodexScreen(plain(one), one.facts).kind).not.toBe('empty');
  });
});

describe("Codex's box", () => {
  it.each([
    ['draft-one-line', 'a half written thought'],
    ['draft-many-lines', 'first line\nsecond line\nthird line'],
    ['draft-pasted-block', '[Pasted Content 3000 chars]'],
    ['draft-like-hint-at-start', 'Ask Codex to do anything'],
    ['busy-with-draft', 'typed while busy'],
    ['menu-at', '@proj'],
    ['mode-bang-command', 'ls -l'],
  ])('%s is read as it was written, in every size', (name, text) => {
    const all = recorded.filter((one) => one.name === name);
    expect(all.length).toBe(3);
    for (const one of all) expect(readCodexScreen(one.ansi, one.facts)).toMatchObject({ text });
  });

  it('is not empty while the cursor is elsewhere, hidden or not at its start', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(readCodexScreen(ansi, { ...facts, cursorY: 3 }).kind).toBe('aside');
    expect(readCodexScreen(ansi, { ...facts, cursorX: 9 }).kind).toBe('aside');
    expect(readCodexScreen(ansi, { ...facts, cursorShown: false }).kind).toBe('aside');
  });

  it('on the screen of a Codex that has exited is not a live box', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(readCodexScreen(ansi, { ...facts, currentCommand: 'bash' })).toEqual({ kind: 'shell', suspended: false });
    expect(readCodexScreen(ansi, { ...facts, currentCommand: 'vim' })).toMatchObject({ kind: 'otherProgram' });
    expect(readCodexScreen(ansi, { ...facts, paneDead: true })).toEqual({ kind: 'dead' });
  });

  it('says that a message waits for the next tool', () => {
    const { ansi, facts } = find('busy-with-queue');
    expect(readCodexScreen(ansi, facts)).toMatchObject({ kind: 'empty', busy: true, queued: true });
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

  it.each(['!ls', '  !ls', '\n\t!rm -rf ~', '!'])('is not typed if it would run a command: %j', (text) => {
    expect(refuse(text)).toContain('shell command');
  });

  it.each(['hello!', 'a\n!b', '/status', '#1'])('is typed: %j', (text) => {
    expect(refuse(text)).toBeUndefined();
  });

  it('is kept from being a command or from opening a list', () => {
    expect(guard?.('/usr/bin is full')).toBe(' /usr/bin is full');
    expect(guard?.('look at @src')).toBe('look at @src ');
    expect(guard?.('hello')).toBe('hello');
  });

  it('is typed only while the line below the box is there, which no dialog has', () => {
    const typed = recorded.filter(({ name }) => /^(?:empty|busy)-/.test(name) && !name.includes('draft'));
    const lines = typed.map((one) => {
      const [line = ''] = boxLines(plain(one), 'x', size);
      expect(plain(one), one.path).toMatch(new RegExp(line, 'm'));
      return line;
    });
    for (const one of recorded.filter(({ name }) => /^(?:dialog|agents)-/.test(name)))
      for (const line of new Set(lines)) expect(plain(one), one.path).not.toMatch(new RegExp(line, 'm'));
  });

  it('is recognised in the box, as far as it is shown', () => {
    const { ansi, facts } = find('draft-many-lines');
    const screen = readCodexScreen(ansi, facts);
    expect(codex.screen.boxHolds(screen, 'first line\nsecond line\nthird line')).toBe('yes');
    expect(codex.screen.boxHolds(screen, 'another text')).toBe('no');
    const block = readCodexScreen(find('draft-pasted-block').ansi, find('draft-pasted-block').facts);
    expect(codex.screen.boxHolds(block, 'x'.repeat(3_000))).toBe('maybe');
    expect(codex.screen.boxHolds(readCodexScreen('', {}), 'x')).toBe('maybe');
  });

  it('is counted where it was submitted, not in the box', () => {
    expect(codex.screen.timesShown(plain(find('empty-after-reply')), 'hello there')).toBe(1);
    expect(codex.screen.timesShown(plain(find('busy-with-queue')), 'queued while busy')).toBe(1);
    expect(codex.screen.timesShown(plain(find('draft-one-line')), 'a half written thought')).toBe(0);
  });

  it('is awaited by its end, if that is long enough to be unique', () => {
    expect(shownText('please look at the tests')?.parts).toContain('pleaselookatthetests');
    expect(shownText('hi')?.parts).toEqual(['[PastedContent']);
  });
});

describe('a screen that a host made too large', () => {
  it.each([
    ['columns', 'a'.repeat(8 * 2 ** 20)],
    ['rows', '\n'.repeat(8 * 2 ** 20)],
  ])('is not read: too many %s', (_, ansi) => {
    expect(readCodexScreen(ansi, { width: 10_000 }).kind).toBe('unknown');
  });
});
