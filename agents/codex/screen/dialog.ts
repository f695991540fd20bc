// Reads the dialog that Codex shows: what it is, its text, its options and the keys that take them. It takes the place of the box.

import { optionsAround, withoutMargin, withSpacesShown } from '../../agent-rows.ts';
import type { AnsiRow } from '../../claude/screen/box.ts';
import type { AgentDialog, AgentDialogOption } from '../../screen.ts';

export function findCodexDialog(screen: readonly AnsiRow[]): AgentDialog | undefined {
  const rows = screen.map(withSpacesShown);
  const end = rows.findLastIndex(({ text }) => text !== '');
  let from = end;
  while (from > end - MOST_HELP_ROWS && from > 0 && !KEYS.test(rows[from]?.text ?? '')) from--;
  if (!KEYS.test(rows[from]?.text ?? '')) return undefined;
  const above = rows.slice(0, from);
  const list = readOptions(above);
  const { which, full, start } = whichDialog(above, list);
  const lines = above.slice(start, list.first).map(({ text }) => text.trim().replace(UNANSWERED, '$1'));
  const words = lines.filter((line) => line !== '');
  const isForm = FORM.test(words[0] ?? '');
  const isCounted = which === 'question' || isForm;
  const isCommand = which === 'permission' && !isForm;
  const [title = '', ...said] = isCounted ? [words[1] ?? '', words[0] ?? '', ...words.slice(2)] : words;
  // What is hidden cannot be answered by its beginning.
  const isCut =
    (start === 0 && (which === 'unknown' || which === 'permission')) ||
    words.some((line) => CUT.test(line)) ||
    (isForm && hidesArguments(lines));
  return {
    which,
    full,
    title: isCut ? '' : title,
    text: isCommand ? inPlace(above.slice(start, list.first), isCut ? '' : title) : isCut ? words : said,
    form: list.options.some(({ selected }) => selected) ? 'choice' : which === 'warnings' ? 'panel' : 'unknown',
    options: list.options.map((option) => withKey(isCounted, option)),
    hasMore: list.hasMore,
    field: fieldOf(above.slice(list.first)),
    help: rows
      .slice(from, end + 1)
      .map((row) => row.text.trim())
      .join(' '),
  };
}

/** With indents and empty lines, which are a part of a command; without the title. */
function inPlace(rows: readonly AnsiRow[], title: string): readonly string[] {
  const lines = rows.map(({ text }) => text.trimEnd());
  const from = title === '' ? 0 : lines.findIndex((line) => line.trim() === title) + 1;
  return withoutMargin(lines.slice(from));
}

const MOST_HELP_ROWS = 4;
/** The last lines of every dialog name its keys. */
const KEYS =
  /^ *(?:Press )?(?:enter|tab|k|left\/right) (?:to|or|select|continue|confirm|keep|group|resume|edit|open|save|toggle)\b/u;
const CUT = /\^a view all\b|^\[… \d+ lines\]|^\+ Show details$/u;

/** A form of an MCP server, or the approval of one of its tools. */
const FORM = /^Field \d+\/\d+/u;
/** It comes with the first arrow key. */
const UNANSWERED = /^(Field \d+\/\d+) \(\d+ required unanswered\)$/u;
const MOST_ARGUMENTS = 3;

/** Codex shows three arguments of a tool at most, each cut with dots, and says nothing about the others. They are below an empty row. */
function hidesArguments(lines: readonly string[]): boolean {
  const below = lines.slice(lines.indexOf('')).filter((line) => line !== '');
  return below.length >= MOST_ARGUMENTS || below.some((line) => line.endsWith('...'));
}

/** By their first lines; true for a panel that the user opened. */
const TITLES = [
  ['trust', /^ {1,2}Folder access$/u, false],
  ['hooks', /^ {1,2}Hooks need review$/u, false],
  ['permission', /^ {1,2}(?:Would you like to|Do you want to|Allow)\b/u, false],
  ['question', /^ {1,2}Question \d+\/\d+/u, false],
  ['plan', /^ {1,2}Implement this plan\?/u, false],
  ['model', /^ {1,2}Select (?:Model|Reasoning)/u, true],
  ['permissions', /^ {1,2}Update Model Permissions/u, true],
  ['warnings', /^ {1,2}Warnings · /u, true],
  ['resume', /^ {1,2}Resume a previous session/u, true],
  ['keymap', /^ {1,2}Keymap$/u, true],
] as const;

/**
 * A dialog stands below the conversation, whose paragraphs begin in the first column. The first title counts: a command to approve may
 * contain another one. Text of the agent above a dialog may contain one, too, but only a dialog for a permission has options with letters.
 */
function whichDialog(rows: readonly AnsiRow[], { first, options }: OptionList) {
  const above = rows.slice(0, first);
  const low = above.findLastIndex(({ text }) => /^[^\s─↓›]/u.test(text)) + 1;
  const hasLetters = options.some(({ label }) => LETTER.test(label));
  const starts = TITLES.flatMap(([which, title, full]) => {
    const start = above.findIndex(({ text }, at) => at >= low && title.test(text));
    return start < 0 || (hasLetters && which !== 'permission') ? [] : [{ which, full, start }];
  });
  const unknown = { which: hasLetters ? 'permission' : 'unknown', full: false, start: low };
  // Without anything above it, its beginning may be off the screen, and what looks like its title a part of the command.
  if (low === 0 && hasLetters) return unknown;
  const [found = unknown] = starts.toSorted((a, b) => a.start - b.start);
  // The edits to approve are above their dialog.
  if (/\bedits\?/u.test(textBelow(above, found.start))) return { ...found, start: low };
  const top = topOf(above, low);
  return top < found.start ? { ...found, full: false, start: top } : found;
}

/** Below two empty rows. A title further down is part of its text: nothing above it may be left out. */
function topOf(rows: readonly AnsiRow[], low: number): number {
  const isEmpty = (at: number) => rows[at]?.text === '';
  const top = rows.findIndex((_, at) => at >= low + 2 && isEmpty(at - 2) && isEmpty(at - 1) && !isEmpty(at));
  return top < 0 ? rows.length : top;
}

function textBelow(rows: readonly AnsiRow[], from: number): string {
  return rows
    .slice(from, from + 2)
    .map(({ text }) => text)
    .join(' ');
}

interface OptionList {
  readonly options: readonly AgentDialogOption[];
  /** The row of the first option; the number of rows if there is none. */
  readonly first: number;
  readonly hasMore: boolean;
}

const OPTION = /^( {0,4})(?:› )?(\d{1,2})\. (\S.*)$/u;

function readOptions(rows: readonly AnsiRow[]): OptionList {
  const heads = rows.flatMap(({ text, cells }, at) => {
    const [, margin = '', number, words = ''] = OPTION.exec(text) ?? [];
    if (number === undefined) return [];
    const mark = cells.findIndex(({ char }) => char !== ' ');
    const selected = cells[mark]?.char === '›' && (cells[mark]?.inverse ?? false);
    return [{ at, number: Number(number), words, selected, column: margin.length + (text.includes('› ') ? 2 : 0) }];
  });
  const focus = heads.findLastIndex(({ selected }) => selected);
  if (focus < 0) return { options: [], first: rows.length, hasMore: false };
  const own = optionsAround(heads, focus);
  const options = own.map(({ at, number, words, selected }, index): AgentDialogOption => {
    const end = own[index + 1]?.at ?? rows.length;
    const more = rows.slice(at + 1, end).map(({ text }) => text);
    const blank = more.findIndex((line) => line.trim() === '' || !/^ {3,}\S/u.test(line));
    const wrapped = blank < 0 ? more : more.slice(0, blank);
    const [label = '', ...about] = words.split(/ {2,}/u);
    const rest = wrapped.map((line) => line.trim());
    // The rest of a label begins below it, the rest of an explanation in its own column.
    return about.length === 0
      ? { number, label: [label, ...rest].join(' '), about: '', selected }
      : { number, label, about: [...about, ...rest].join(' '), selected };
  });
  const after = rows[rows.findLastIndex(({ text }) => text !== '')]?.text.trim() ?? '';
  return { options, first: own[0]?.at ?? 0, hasMore: after === '↓' || (own[0]?.number ?? 1) > 1 };
}

const LETTER = / \((y|p|a|n|d|esc)\)$/u;

/** The dialog for a permission shows its keys; in a question, a form and the other lists a digit picks at once. */
function withKey(isCounted: boolean, option: AgentDialogOption): AgentDialogOption {
  const letter = LETTER.exec(option.label)?.[1];
  if (letter !== undefined)
    return { ...option, label: option.label.replace(LETTER, ''), key: letter === 'esc' ? 'Escape' : letter };
  if (isCounted && option.number !== undefined && option.number < 10) return { ...option, key: String(option.number) };
  return option;
}

/** The field for notes, below the options of a question. */
function fieldOf(rows: readonly AnsiRow[]): AgentDialog['field'] {
  const field = rows.find(({ text, cells }) => /^ {2}› /u.test(text) && !cells[2]?.inverse);
  if (field === undefined) return undefined;
  return field.cells.slice(4).every(({ char, dim }) => char === ' ' || dim) ? 'empty' : 'full';
}
