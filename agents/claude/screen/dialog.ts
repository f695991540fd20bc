// Reads the dialogs of Claude Code, to tell the user which one is open, its options and its keys. A dialog that this file does
// not know is still a dialog, `unknown`; nothing here decides whether typing is safe.

import type { AnsiRow } from '../ansi.ts';

export type DialogName = (typeof KINDS)[number][0] | 'unknown';

interface DialogOption {
  readonly number: number | undefined;
  readonly label: string;
  readonly selected: boolean;
}

export interface Dialog {
  readonly which: DialogName;
  /** A panel that the user opened with a command or a key: Esc closes it, and nothing waits for an answer. */
  readonly full: boolean;
  readonly title: string;
  readonly options: readonly DialogOption[];
  /** The line of keys, as the dialog shows it. */
  readonly help: string;
}

export function findDialog(rows: readonly AnsiRow[]): Dialog | undefined {
  const body = bodyOf(rows.map((row) => row.text));
  const options = optionsOf(body);
  const help = helpOf(body);
  if (!options.some((option) => option.selected) && help === '' && !PANEL.test(body.join('\n'))) return undefined;
  const said = body.join('\n');
  const [which, , full] = KINDS.find(([, words]) => words.test(said)) ?? (['unknown', /./, false] as const);
  return { which, full, title: titleOf(body), options, help };
}

/** Matched in this order against the whole dialog; true for a panel that the user opened. */
const KINDS = [
  ['auto-mode', /^ *(?:Make auto mode your default|Auto mode can['’]t check)/mu, false],
  ['trust', /^ *(?:Accessing workspace|Do you trust the files)|\bI trust this folder$/mu, false],
  ['onboarding', /^ *(?:Let['’]s get started|To change this later, run \/theme)/mu, false],
  ['question', /^(?:← )? *[☐☒] \S|^ *Review your answers|^ *\d+\. Chat about this/mu, false],
  ['plan', /^ *(?:Exit plan mode\?|Ready to code\?)|\bhas written up a plan\b/mu, false],
  ['permission', /^ *Do you want to\b|^ *Do you want Claude\b/mu, false],
  ['rewind', /^ *Rewind$/mu, true],
  ['model', /^ *Select model$/mu, true],
  ['config', /⌕ Search settings|^ *No settings match/mu, true],
  ['cost', /^ *Total cost:/mu, true],
  ['status', /^ *Version: +\d/mu, true],
  ['settings', /^ *Settings +Status +Config/mu, true],
  ['help', /^ *(?:Claude Code v[\d.]+ +General|Help +)/mu, true],
  ['resume', /^ *Resume session/mu, true],
  ['permissions', /^ *Permissions:? +/mu, true],
  ['search', /^ *Search prompts/mu, true],
  ['theme', /^ *Theme$/mu, true],
  ['memory', /^ *Memory$/mu, true],
  ['hooks', /^ *Hooks$/mu, true],
  ['effort', /^ *Effort$/mu, true],
  ['export', /^ *Export [Cc]onversation/mu, true],
  ['agents', /^ *Agents +Running/mu, true],
  ['btw', /^ *\/btw /mu, true],
  ['tasks', /^ *(?:Background tasks|Shell details)/mu, true],
] as const;

/** Panels that may be too tall to show their line of keys. */
const PANEL = /^ *(?:Settings +Status +Config|Search prompts|Help +General)/mu;

/** The lines below the last rule across the screen, except the rule inside a question. */
function bodyOf(lines: readonly string[]): readonly string[] {
  let top = lines.findLastIndex(isTop);
  if (OPTION_NUMBER.test(lines[top + 1] ?? '')) top = lines.slice(0, top).findLastIndex(isTop);
  return lines.slice(top + 1);
}

/** In newer versions a notice may overwrite a part of the upper edge. */
function isTop(line: string): boolean {
  return /^─{10,}$|^ {2}─{10,}$|^[ ▔].*▔$/u.test(line);
}

const OPTION = /^( *)(❯ *)?((?:[↑↓✔] )*)(?:(\d+)\. +)?(\S.*)$/su;

/** Numbered lines; in a dialog without numbers, the lines that begin in the same column as the selected one. */
function optionsOf(body: readonly string[]): readonly DialogOption[] {
  const found = body.flatMap((line) => {
    const [, margin = '', mark, arrows = '', number, label = ''] = OPTION.exec(line) ?? [];
    const column = margin.length + (mark?.length ?? 0) + arrows.length;
    return label === '' ? [] : [{ column, number, label, selected: mark !== undefined }];
  });
  const numbered = found.some((option) => option.number !== undefined);
  const column = found.find((option) => option.selected)?.column;
  return found
    .filter((one) => (numbered ? one.number !== undefined : one.column === column))
    .map(({ number, label, selected }) => ({
      number: number === undefined ? undefined : Number(number),
      label: label.split('  ', 1)[0] ?? '',
      selected,
    }));
}

const OPTION_NUMBER = /^ *(?:❯ *)?\d+\. /u;
const KEYS = /\b(?:esc|enter|tab|shift\+tab)(?:\/\S{1,20})? to \w+/iu;

/** The last block of lines, if it names keys. */
function helpOf(body: readonly string[]): string {
  const lines = body.slice(0, body.findLastIndex((line) => line !== '') + 1);
  const block = lines.slice(lines.lastIndexOf('') + 1);
  const help = block.slice(block.findLastIndex((line) => OPTION_NUMBER.test(line)) + 1);
  return help.some((line) => KEYS.test(line)) ? help.map((line) => line.trim()).join(' ') : '';
}

function titleOf(body: readonly string[]): string {
  return body.find((line) => line.trim() !== '')?.trim() ?? '';
}
