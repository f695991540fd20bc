// Programs that are not agents: a prompt that waits below the words of a dialog is not a dialog, whatever stands above it.

import { describe, expect, it } from 'vitest';
import { readForKeys, readPane, shownAgent, stillNoDialog } from '../../threads/read-pane.ts';
import type { PaneLook } from '../../tmux/look.ts';
import { type RecordedAgent, screensOf, withoutColours } from '../support/recorded-screens.ts';

const AGENTS: readonly RecordedAgent[] = ['claude', 'codex', 'gemini', 'opencode', 'pi'];

/** As tmux shows it, with the cursor behind the last line, or in column `x` of line `y`. */
function look(lines: readonly string[], { command = 'bash', x = NaN, y = lines.length - 1, cursorShown = true } = {}) {
  const text = [...lines, ...Array<string>(Math.max(0, 24 - lines.length)).fill('')].join('\n');
  const cursor = { x: Number.isNaN(x) ? (lines.at(-1) ?? '').length : x, y };
  const place = { cursor, cursorShown, width: 80, height: Math.max(24, lines.length), title: '', dead: false };
  return { kind: 'pane', ...place, command, text, ansi: text, mode: undefined } as unknown as PaneLook;
}

const shell = { command: '', shell: 'ours', claudeSession: '', agent: 'claude' } as const;

const DOCS = ['Claude asks:', '', ' Do you want to proceed?', ' ❯ 1. Yes', '   2. No', '', ' Esc to cancel', ''];
const PROMPTS: readonly (readonly [string, readonly string[], string])[] = [
  ['apt', ['❯ sudo apt install htop', 'Do you want to continue? [Y/n] '], 'apt'],
  ['a package', ['❯ apt show vim', 'Version: 2:9.1', '❯ '], 'zsh'],
  ['a list of files', ['❯ eza -lh', 'Permissions Size User Date Modified Name', '❯ '], 'fish'],
  ['a pager', ['Permissions Size User Date Modified Name', ':'], 'less'],
  ['Python', ['❯ python3', 'Version: 3', '>>> '], 'python3'],
  ['npm', ['❯ npm init', 'Press ^C at any time to quit.', 'package name: (shop) '], 'npm'],
  ['git', ['❯ git add -p', '(1/1) Stage this hunk [y,n,q,a,d,e,p,?]? '], 'git'],
  ['a list in the shell', ['Do you want to deploy?', '1) Yes', '2) No', '#? '], 'bash'],
  ['a document', [...DOCS, '$ '], 'bash'],
];

describe('a prompt is no dialog', () => {
  it.each(PROMPTS)('of %s', (_, lines, command) => {
    const seen = look(lines, { command });
    expect(shownAgent(seen)).toBeUndefined();
    expect(readPane(seen, shell).isAgent).toBe(false);
    expect(readForKeys(seen, shell).isAgent).toBe(false);
  });

  it('if a part of it is on the right', () => {
    const lines = [...DOCS, '❯                                  12:30'];
    expect(shownAgent(look(lines, { command: 'zsh', x: 2 }))).toBeUndefined();
  });

  it('below the dialog of an agent that was printed', () => {
    for (const agent of AGENTS)
      for (const one of screensOf(agent).recorded.filter(({ name }) => name.startsWith('dialog-'))) {
        const lines = withoutColours(one).trimEnd().split('\n');
        const seen = { ...look([...lines, '❯ ']), width: one.facts.width ?? 80 };
        expect([one.path, shownAgent(seen)?.screen.kind]).toEqual([one.path, undefined]);
      }
  });

  it('and tmux presses a key there, although a line of a dialog is on the screen', () => {
    expect(stillNoDialog(look([...DOCS, '$ ']), shell).dialog).toBeUndefined();
    expect(stillNoDialog(look(['$ ']), shell).dialog).toBeDefined();
  });
});

it('a program that prints below the prompt of a shell is no agent', () => {
  const seen = look(['❯ make', 'cc -c shop.c', ''], { command: 'make' });
  expect(readPane(seen, shell).isAgent).toBe(false);
});

describe('a dialog stays one', () => {
  const dialog = DOCS.slice(0, -1);
  it.each([
    ['with a hidden cursor', { cursorShown: false }],
    ['with the cursor before its last line', { x: 0 }],
    ['with the cursor below it', { x: 0, y: dialog.length }],
    ['with the cursor at an option', { x: 1, y: 3 }],
  ])('%s', (_, place) => {
    expect(shownAgent(look(dialog, { command: 'sh', ...place }))?.screen.kind).toBe('dialog');
  });

  it.each([
    ['in a field with a frame', ['Search prompts', ' ⌕ Filter', '  │ fix       │'], 6],
    ['in an option for other words', [...DOCS.slice(0, 3), '   1. Yes', ' ❯ 2. No, and '], 14],
  ])('with the cursor %s at the end of the screen', (_, lines, x) => {
    expect(shownAgent(look(lines, { command: 'sh', x }))?.screen.kind).toBe('dialog');
  });

  it('wherever its agent has the cursor, also if it is shown', () => {
    for (const agent of AGENTS)
      for (const one of screensOf(agent).recorded.filter(({ name }) => name.startsWith('dialog-'))) {
        const { cursorX = 0, cursorY = 0, width = 0, height = 0, title = '', cursorShown = true } = one.facts;
        // Nobody recorded whether Claude Code shows it.
        const place = { cursor: { x: cursorX, y: cursorY }, cursorShown: agent === 'claude' || cursorShown };
        const text = withoutColours(one).replace(/\n$/, '');
        const seen = { ...look([]), ...place, width, height, title, text, ansi: one.ansi.replace(/\n$/, '') };
        expect([one.path, shownAgent(seen)?.screen.kind]).toEqual([one.path, 'dialog']);
      }
  });
});

/** What another program makes of a screen, as rows. */
const BESIDE: readonly (readonly [string, (rows: readonly string[], width: number) => readonly string[]])[] = [
  ['on the right', (rows) => rows.map((row, at) => `${`note ${at}`.padEnd(30)}│${row}`)],
  ['on the left', (rows, width) => rows.map((row, at) => `${row.padEnd(width)}│note ${at}`)],
  [
    'in a frame',
    (rows, width) => [
      `┌${'─'.repeat(width)}┐`,
      ...rows.map((row) => `│${row.padEnd(width)}│`),
      `└${'─'.repeat(width)}┘`,
    ],
  ],
  [
    'in a popup',
    (rows, width) => [
      ...['$ make', 'done', `$ ┌${'─'.repeat(width)}┐`],
      ...rows.map((row) => `  │${row.padEnd(width)}│`),
      `  └${'─'.repeat(width)}┘`,
    ],
  ],
  ['behind line numbers', (rows) => rows.map((row, at) => `${String(at + 1).padStart(4)} ${row}`)],
];

describe('a permission that another program shows beside something else is a dialog', () => {
  it.each(BESIDE)('%s', (_, shownBy) => {
    for (const agent of AGENTS)
      for (const one of screensOf(agent).recorded.filter(({ name }) =>
        /^dialog-permission-(?:bash|shell)/.test(name),
      )) {
        const rows = withoutColours(one).trimEnd().split('\n');
        const lines = shownBy(rows, one.facts.width ?? 80);
        const width = Math.max(...lines.map(({ length }) => length));
        const seen = { ...look(lines, { command: 'tmux', cursorShown: false }), width, height: lines.length };
        expect([one.path, shownAgent(seen)?.screen.kind]).toEqual([one.path, 'dialog']);
      }
  });
});
