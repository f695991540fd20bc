import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAnsi } from '../../../agents/claude/screen/box.ts';
import { findDialog } from '../../../agents/claude/screen/dialog.ts';
import type { AgentDialog } from '../../../agents/screen.ts';
import { cardDraft, dialogPrint, panelTexts, parseCardId } from '../../../bridge/dialogs/card-text.ts';
import { endOfCard } from '../../../bridge/dialogs/closed-card-text.ts';
import { screensOf } from '../../support/recorded-screens.ts';

const CORPUS = join(import.meta.dirname, '../../fixtures', 'screens');
const PANE = { serverPid: 1, paneId: '%1', panePid: 2 };
const all = readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\/dialog-[^/]*\.ansi$/.test(path))
  .flatMap((path) => {
    const width = Number(/(\d+)x\d+/.exec(path)?.[1]);
    const dialog = findDialog(parseAnsi(readFileSync(join(CORPUS, path), 'utf8')), width);
    return dialog === undefined ? [] : [{ path, dialog }];
  });

function find(path: string): AgentDialog {
  const found = all.find((one) => one.path === `${path}.ansi`);
  if (found === undefined) throw new Error(`nothing recorded as ${path}`);
  return found.dialog;
}

interface Component {
  readonly type: number;
  readonly label?: string;
  readonly custom_id: string;
  readonly options?: readonly { label: string; value: string; description?: string }[];
}
const partsOf = (dialog: AgentDialog) =>
  (cardDraft(dialog, 'p'.repeat(16), 'Claude').components ?? []).map(
    (one) => one.components as unknown as readonly Component[],
  );
const labelsOf = (dialog: AgentDialog) => partsOf(dialog).map((row) => row.map(({ label }) => label));

describe('the card of every recorded dialog', () => {
  it.each(all)('$path fits into a message and onto a phone', ({ dialog }) => {
    const texts =
      dialog.form === 'panel'
        ? panelTexts(dialog, '📋 **Usage**')
        : [cardDraft(dialog, 'p'.repeat(16), 'Claude').content];
    expect(texts.length).toBeLessThanOrEqual(2);
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(2_000);
      const shown = text.split('```')[1] ?? '';
      for (const line of shown.split('\n')) expect([...line].length).toBeLessThanOrEqual(60);
    }
    for (const row of partsOf(dialog)) {
      expect(row.length).toBeLessThanOrEqual(5);
      for (const { label = '', options = [], custom_id } of row) {
        expect([...label].length).toBeLessThanOrEqual(80);
        expect(custom_id.length).toBeLessThanOrEqual(100);
        expect(options.length).toBeLessThanOrEqual(25);
        for (const one of options) expect([...one.label].length).toBeLessThanOrEqual(100);
      }
    }
  });

  it('shows words that are written from right to left in the order in which they run, also in its file', () => {
    const dialog = { ...find('2.1.325/80x24/dialog-trust'), text: Array<string>(300).fill('cp א ב') };
    const { content, files = [] } = cardDraft(dialog, 'p'.repeat(16), 'Claude');
    const line = 'cp \u200eא\u200e \u200eב\u200e\n';
    expect(content).toContain(line);
    expect(content.length).toBeLessThanOrEqual(2_000);
    expect(Buffer.from(files[0]?.data as Uint8Array).toString()).toContain(line);
  });

  it('has the words of the dialog on its buttons, and Esc where the dialog says so', () => {
    expect(labelsOf(find('2.1.325/80x24/dialog-trust'))).toEqual([
      ['No, exit', 'Yes, I trust this folder'],
      ['Esc: cancel'],
    ]);
    expect(labelsOf(find('2.1.197/80x24/dialog-plan'))).toEqual([['Yes', 'No']]);
    expect(labelsOf(find('2.1.325/80x24/dialog-model'))[1]).toEqual(['More…', 'Esc: cancel']);
  });

  it('explains the options that the dialog explains', () => {
    expect(cardDraft(find('2.1.197/80x24/dialog-model'), 'p'.repeat(16), 'Claude').content).toContain(
      'Haiku: Haiku 4.5',
    );
    const [[menu]] = partsOf(find('2.1.197/80x24/dialog-theme')) as [[Component]];
    expect(menu.options?.map(({ label }) => label)[7]).toBe('New custom theme…');
  });

  it('has a button with a form for a text field', () => {
    const dialog = find('2.1.197/80x24/dialog-question');
    expect(labelsOf(dialog)).toEqual([
      ['SQLite', 'Postgres', 'DuckDB', 'Chat about this'],
      ['✏️ Type something.', 'Esc: cancel'],
    ]);
    const ids = partsOf(dialog).map((row) => row.map(({ custom_id }) => custom_id.split(':')[2]));
    expect(ids).toEqual([
      ['0', '1', '2', '4'],
      ['write-3', 'key-Escape'],
    ]);
    expect(labelsOf(find('2.1.325/80x24/dialog-plan-feedback'))[1]).toEqual(['✏️ Tell Claude what to change']);
    expect(labelsOf(find('2.1.325/80x24/dialog-login-url'))).toEqual([['✏️ The code of the login page', 'Esc: cancel']]);
    expect(labelsOf(find('2.1.325/80x24/dialog-add-dir'))).toEqual([['✏️ The path of the directory', 'Esc: cancel']]);
  });

  it('has no form for a field that already has a text, and says so', () => {
    for (const path of ['2.1.325/80x24/dialog-export-file', '2.1.325/80x24/dialog-question-typing']) {
      const dialog = find(path);
      expect(JSON.stringify(partsOf(dialog))).not.toContain('write-');
      expect(cardDraft(dialog, 'p'.repeat(16), 'Claude').content).toContain('in the terminal only');
    }
  });

  it('has keys where threadmux cannot choose, and sideways ones for a slider', () => {
    expect(labelsOf(find('2.1.325/80x24/dialog-effort'))).toEqual([
      ['Esc', '↑', '↓', 'Enter'],
      ['←', '→'],
    ]);
  });

  it.each(['2.1.197', '2.1.325'])('shows the ticks of a list, and belongs to them: %s', (version) => {
    const dialog = find(`${version}/80x24/dialog-server-several`);
    expect(cardDraft(dialog, 'p', 'Claude').content).toContain('\n❯ [✔] database\n  [✔] files\n');
    expect(labelsOf(dialog)).toEqual([['Esc', '↑', '↓', 'Space', 'Enter']]);
    const options = dialog.options.map((one) => ({ ...one, label: one.label.replace('[✔] files', '[ ] files') }));
    expect(dialogPrint(PANE, { ...dialog, options })).not.toBe(dialogPrint(PANE, dialog));
    expect(dialogPrint(PANE, { ...dialog, help: 'Enter to delete' })).not.toBe(dialogPrint(PANE, dialog));
  });

  it('has no key that confirms a list of which only a part is shown, and says so', () => {
    const dialog = find('2.1.197/80x24/dialog-server-more');
    expect(labelsOf(dialog)).toEqual([['Esc', '↑', '↓']]);
    const { content } = cardDraft(dialog, 'p', 'Claude');
    expect(content).toContain('A part of it is not on the screen.');
    expect(content).toContain('7 new MCP servers found');
  });

  it('links only to the login page of Claude itself', () => {
    const dialog = find('2.1.325/80x24/dialog-login-url');
    expect(cardDraft(dialog, 'p'.repeat(16), 'Claude').content).toMatch(/^<https:\/\/claude\.com\/\S+>$/m);
    const text = dialog.text.map((line) => line.replace('claude.com/', 'claude.com.evil.example/'));
    expect(cardDraft({ ...dialog, text }, 'p'.repeat(16), 'Claude').content).not.toMatch(/^<https/m);
  });

  it('cuts no character in two', () => {
    const dialog = { ...find('2.1.325/80x24/dialog-trust'), text: [`x${'𝐀'.repeat(200)}`] };
    expect(cardDraft(dialog, 'p'.repeat(16), 'Claude').content).not.toMatch(/\p{Cs}/u);
  });

  it('hides nothing and renders nothing that is on the screen', () => {
    const evil = ['``` @everyone', 'a\u202eb', '[click](https://evil.example)'];
    const { content } = cardDraft(
      { ...find('2.1.325/80x24/dialog-trust'), title: '**[x](y)**', text: evil },
      'p'.repeat(16),
      'Claude',
    );
    expect(content).toContain('⟨U+202E⟩');
    expect(content.split('```')).toHaveLength(3);
    expect(content).toContain('\\*\\*\\[x\\]');
  });
});

describe('the print of a dialog', () => {
  const dialog = find('2.1.325/80x24/dialog-trust');

  it('is the same while the highlighted option moves', () => {
    const options = dialog.options.map((one) => ({ ...one, selected: !one.selected }));
    expect(dialogPrint(PANE, { ...dialog, options })).toBe(dialogPrint(PANE, dialog));
  });

  it('is another one for other words, options or panes', () => {
    const print = dialogPrint(PANE, dialog);
    expect(dialogPrint(PANE, { ...dialog, text: ['/home/me/other'] })).not.toBe(print);
    expect(dialogPrint(PANE, { ...dialog, options: dialog.options.toReversed() })).not.toBe(print);
    expect(dialogPrint({ ...PANE, panePid: 3 }, dialog)).not.toBe(print);
  });

  it('does not change with the clock', () => {
    const rewind = find('2.1.325/80x24/dialog-rewind-restore');
    const text = rewind.text.map((line) => line.replace('5s ago', '12s ago'));
    expect(dialogPrint(PANE, { ...rewind, text })).toBe(dialogPrint(PANE, rewind));
  });
});

describe('the print of a dialog to approve', () => {
  const bash = find('2.1.325/80x24/dialog-permission-bash');
  const of = (dialog: AgentDialog) => dialogPrint(PANE, dialog);

  it('changes with every word of its text', () => {
    const about = (what: string) => ({ ...bash, text: [...bash.text, `rm -rf 1 ${what} ago`] });
    expect(of(about('tmp'))).not.toBe(of(about('home')));
  });

  it('changes with the explanation of an option', () => {
    const options = bash.options.map((one) => ({ ...one, about: 'for all commands' }));
    expect(of({ ...bash, options })).not.toBe(of(bash));
  });

  it('does not change with the highlighted option', () => {
    const options = bash.options.map((one, at) => ({ ...one, selected: at === 1 }));
    expect(of({ ...bash, options })).toBe(of(bash));
  });
});

describe('words from the screen', () => {
  it('cannot become a link or a long text in a closed card', () => {
    const label = `[Tap here](https://evil.test) @everyone ${'x'.repeat(3_000)}`;
    const card = { id: '1', print: 'p', which: 'trust', title: 'Trust', message: '1', answer: { label, by: 'me' } };
    const shown = endOfCard(card, 'terminal', 'Claude');
    expect(shown).toMatch(/^✅ \*\*Trust\*\* \\\[Tap here\\\]\(https:\/\/evil\.test\) \\@everyone x+… — me$/);
    expect(shown.length).toBeLessThan(300);
  });

  it('are in the text if a button or the title has no room for them', () => {
    const dialog = find('2.1.325/80x24/dialog-permission-bash');
    const [first, ...others] = dialog.options as [AgentDialog['options'][number]];
    const label = `Yes, and always allow ls ${'\u200b'.repeat(40)}&& rm`;
    const { content, components } = cardDraft({ ...dialog, options: [{ ...first, label }, ...others] }, 'p', 'Claude');
    expect(JSON.stringify(components)).not.toContain('&& rm');
    expect(content.replaceAll('\n', '')).toContain('&& rm');
    const title = `Allow ls ${'x'.repeat(200)} && rm?`;
    expect(cardDraft({ ...dialog, title }, 'p', 'Claude').content).toContain('&& rm?');
  });

  it('come with a warning if a part of them is not on the screen', () => {
    const warning = 'A part of it is not on the screen.';
    expect(cardDraft(find('2.1.197/40x15/dialog-permission-bash'), 'p', 'Claude').content).toContain(warning);
    expect(cardDraft(find('2.1.197/80x24/dialog-permission-bash'), 'p', 'Claude').content).not.toContain(warning);
  });

  it('have no Enter if a part of them is not on the screen, and are others if something was scrolled away', () => {
    const whole: AgentDialog = { ...find('2.1.197/80x24/dialog-permission-bash'), form: 'unknown' };
    const cut = { ...whole, title: '' };
    const [entersWhole, entersCut] = [whole, cut].map((one) =>
      JSON.stringify(cardDraft(one, 'p', 'Claude').components).includes('key-Enter'),
    );
    expect([entersWhole, entersCut]).toEqual([true, false]);
    expect(dialogPrint(PANE, whole, 1)).toBe(dialogPrint(PANE, whole, 2));
    expect(dialogPrint(PANE, cut, 1)).not.toBe(dialogPrint(PANE, cut, 2));
  });
});

describe('the button of a card', () => {
  const print = 'aB3_-6789012345x';
  it.each([
    [`dialog:${print}:3`, undefined, { do: 'choose', option: 3 }],
    [`dialog:${print}:pick`, '12', { do: 'choose', option: 12 }],
    [`dialog:${print}:more`, undefined, { do: 'scroll' }],
    [`dialog:${print}:key-Escape`, undefined, { do: 'press', key: 'Escape' }],
  ])('%s is understood', (id, picked, action) => {
    expect(parseCardId(id, picked)).toEqual({ print, action });
  });

  it.each([
    'key:Enter:x',
    'dialog:short:1',
    `dialog:${print}:pick`,
    `dialog:${print}:key-C-c`,
    `dialog:${print}:key-rm`,
    `dialog:${print}:3:4`,
  ])('%s is none', (id) => {
    expect(parseCardId(id, undefined)).toBeUndefined();
  });
});

describe('the card of a command', () => {
  it.each([
    ['claude', 'dialog-permission-bash', /^ curl/, ' '],
    ['codex', 'dialog-permission-shell', /^ {2}\$ curl/, '    '],
    ['gemini', 'dialog-permission-shell', /^│ │ curl/, '│ │ '],
    ['opencode', 'dialog-permission-shell', /^ {2}┃ {2}\$ curl/, '  ┃  '],
  ] as const)(
    'shows spaces that belong to its words, also at the ends of a line: %s',
    (agent, name, command, margin) => {
      const { recorded, read } = screensOf(agent);
      const one = recorded.findLast(({ path }) => path.endsWith(`120x40/${name}`));
      const rows = one?.ansi.replace(/\n$/, '').split('\n') ?? [];
      const at = parseAnsi(one?.ansi ?? '').findIndex(({ text }) => command.test(text));
      expect(at).toBeGreaterThan(0);
      const line = `${margin}\u00a0ls -l\u3000`;
      const side = agent === 'gemini' ? `${' '.repeat(105)}│ │` : '';
      const screen = read(
        `${rows
          .slice(1)
          .toSpliced(at, 0, line + side)
          .join('\n')}\n`,
        one?.facts,
      );
      if (screen.kind !== 'dialog') throw new Error(screen.kind);
      expect(cardDraft(screen, 'p', agent).content).toContain('⟨U+00A0⟩ls -l⟨U+3000⟩');
    },
  );
});
