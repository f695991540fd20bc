// Nothing that a recorded dialog shows is missing on its card: people answer by it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseAnsi } from '../../../agents/claude/screen/box.ts';
import { driverOf } from '../../../agents/list.ts';
import type { AgentDialog } from '../../../agents/screen.ts';
import { cardDraft } from '../../../bridge/dialogs/card-text.ts';

const CORPUS = join(import.meta.dirname, '../../fixtures', 'screens');

/** The dialogs that get a card: a panel that only shows something has none. */
const shown = readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\/dialog-[^/]*\.ansi$/.test(path))
  .filter((path) => !/^opencode.*-list-/.test(path)) // they lie over other text, and nothing is approved there
  .flatMap((path) => {
    const agent = /^[a-z]+/.exec(path)?.[0] ?? 'claude';
    const [, width = 0, height = 0] = /\/(\d+)x(\d+)\//.exec(path) ?? [];
    const ansi = readFileSync(join(CORPUS, path), 'utf8');
    const screen = driverOf(agent).screen.read(ansi, { width: Number(width), height: Number(height) });
    if (screen.kind !== 'dialog' || screen.form === 'panel') return [];
    return [
      {
        path,
        dialog: screen,
        rows: areaOf(
          agent,
          parseAnsi(ansi).map(({ text }) => text),
        ),
      },
    ];
  });

/** The rows of the dialog, found by its edges and not by the reader that is tested. */
function areaOf(agent: string, rows: readonly string[]): readonly string[] {
  const below = (edge: RegExp, to = rows.length) =>
    rows.slice(rows.slice(0, to).findLastIndex((row) => edge.test(row)) + 1, to);
  const last = (edge: RegExp) => rows.findLastIndex((row) => edge.test(row));
  switch (agent) {
    case 'codex':
      return below(/^[^\s›↓]/u);
    case 'gemini':
      return below(/^[╭▀]/u);
    case 'opencode':
      return below(/^(?! *┃)/u, last(/^ *┃/u) + 1).map((row) => row.replace(/ +• OpenCode [\d.]+$/u, '')); // beside it
    case 'pi':
      return below(/^─/u, last(/^─/u)); // below it is the line of the model
    default:
      return below(/^─{10,}$|^[ ▔].*▔$/u);
  }
}

/** What a card does not repeat, and why. */
const LEFT_OUT: readonly RegExp[] = [
  /^ +(?:Settings|Permissions|Plugins) {2,}\S|^ *(?:Stats|Workspace)$/u, // the names of tabs, in a list that the user opened
  /^(?:← )? *[☐☒] \S/u, // the row of questions: the one that is asked now is on the card
  /^ *(?:[↑↓] )?(?:\d+ more(?: above| below)?|… \+\d+ \S+)$/u, // the card has a button for more
  /^ +\+ Show details$/u, // of the tool call above the dialog of Codex
  /^ {2}Field \d+\/\d+ \(\d+ required unanswered\)$/u, // it comes with the first arrow key: its number is on the card
  /^ {2}› (?!\d)/u, // a field for notes
  /^│ *\((?:Press|Use) .*\) *│$/u, // the line of keys, in Gemini CLI
  /^│? *Answer Questions *│?$/u, // the same above every question of Gemini CLI
];

/** Without what a card shows in its own way: frames, line breaks, the arrow and the numbers of options, the letters of keys. */
const plain = (text: string) => text.replace(/[\s\\`─━═╌╭╮╰╯┌┐└┘▔▁│┃█▀▄]/gu, '');
const partsOf = (row: string) =>
  row
    .replace(/^[\s│┃]*[❯›●↑↓]?\s*(?:\d+\. )?(?:✔ )?/u, '')
    .split(/ {2,}|│/u)
    .map((part) => plain(part.trim().replace(/ \((?:y|p|a|n|d|esc)\)$/u, '')))
    .filter((part) => /[\p{L}\p{N}]/u.test(part));

/** The buttons of a choice stand for its keys; no option may be among them. */
function keysOf({ form, help }: AgentDialog): string {
  if (form !== 'choice') return '';
  expect(help).not.toMatch(/\[.?\]|[❯›●]|\d\. /u);
  return help;
}

function onCard(dialog: AgentDialog): string {
  const { content, components, files = [] } = cardDraft(dialog, 'p'.repeat(16), 'Claude');
  const file = files.map(({ data }) => Buffer.from(data as Uint8Array).toString());
  const labels = JSON.stringify(components).replaceAll('\\"', '"');
  return plain([content, ...file, labels, keysOf(dialog)].join('\n'));
}

it('is tested with the dialogs of all agents', () => {
  expect(shown.length).toBeGreaterThan(350);
});

it.each(shown)('every line of the dialog is on its card: $path', ({ dialog, rows }) => {
  const card = onCard(dialog);
  const asked = rows.filter((row) => !LEFT_OUT.some((one) => one.test(row)));
  expect(asked.flatMap(partsOf).filter((part) => !card.includes(part))).toEqual([]);
});
