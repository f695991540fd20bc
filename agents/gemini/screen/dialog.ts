// Reads the dialog that Gemini CLI shows: a frame at the bottom of the screen, in the place of the box. Its options have numbers, and a
// digit takes one at once.

import { optionsAround, withSpacesShown } from '../../agent-rows.ts';
import type { AnsiRow } from '../../claude/screen/box.ts';
import type { AgentDialog, AgentDialogOption } from '../../screen.ts';

export function findGeminiDialog(screen: readonly AnsiRow[]): AgentDialog | undefined {
  const rows = screen.map(withSpacesShown);
  const end = rows.findLastIndex(({ text }) => text !== '');
  const bottom = FRAME_END.exec(rows[end]?.text ?? '');
  if (bottom === null) return undefined;
  const indent = bottom[1]?.length ?? 0;
  const start = rows.slice(0, end).findLastIndex(({ text }) => text.startsWith(`${' '.repeat(indent)}╭`));
  const inside = rows.slice(start + 1, end).map((row) => insideOf(row, indent));
  const list = readList(inside);
  // Above the options, such words are a part of what is asked.
  const helpAt = inside.findLastIndex((line, at) => HELP.test(line) && at > Math.max(-1, ...list.rows));
  const help = inside[helpAt]?.trim() ?? '';
  const words = inside
    .filter((line, at) => !list.rows.has(at) && at !== helpAt && !SCROLL.test(line.trim()))
    .flatMap((line) => (unframed(line) === '' && !IN_FRAME.test(line) ? [] : [unframed(line)]));
  const said = words.join('\n');
  // Its question is the last line above the options: a command to approve may contain the words of any other dialog.
  const asks = PERMISSION.test(words.at(-1) ?? '');
  const isKind = ([name, one]: (typeof KINDS)[number]) => (asks ? name === 'permission' : one.test(said));
  const [which, titleLine, full] = KINDS.find(isKind) ?? (['unknown', /./u, false] as const);
  const headAt = asks ? words.length - 1 : words.findIndex((line) => titleLine.test(line));
  const titleAt = which === 'question' ? questionAt(words, headAt) : headAt;
  // A part that is hidden cannot be answered by the rest.
  const isCut = start < 0 || words.some(saysCut) || inside.some(isEmptyFrame);
  return {
    which,
    full,
    title: isCut ? '' : (words[titleAt] ?? ''),
    text: isCut ? words : words.filter((_, at) => at !== titleAt && at !== headAt),
    form: list.options.some(({ selected }) => selected) && !isTicked(list.options) ? 'choice' : 'unknown',
    options: list.options.map((option) => withDigit(which, option)),
    hasMore: list.hasMore,
    field: undefined,
    help: help.replace(/^\(|\)$/gu, ''),
  };
}

const FRAME_END = /^( {0,2})╰─+╯$/u;
const HELP = /\b(?:Enter to (?:select|submit)|Esc to (?:close|cancel)|Use Enter to select)\b/u;
const SCROLL = /^[▲▼]$/u;
const CUT_LINES = /^\.\.\. (?:first|last) \d{1,9} lines/iu;

/** A part of what is asked is not on the screen. */
function saysCut(line: string): boolean {
  return CUT_LINES.test(line) || (/\bhidden\b/iu.test(line) && /\b(?:Ctrl\+O|ctrl-o|to show)\b/iu.test(line));
}

/** In a small pane, nothing of the command has room. */
function isEmptyFrame(line: string, at: number, lines: readonly string[]): boolean {
  return /^╭─+╮$/u.test(line.trim()) && /^╰─+╯$/u.test(lines[at + 1]?.trim() ?? '');
}

const PERMISSION = /^(?:Allow execution of|Apply this change\?|Do you want to (?:proceed|allow)|Allow\b)/mu;

/** Matched in this order against the words of the dialog; true for a panel that the user opened. */
const KINDS = [
  ['trust', /^Do you trust the files in this folder\?|^Trusting a folder\b/mu, false],
  ['login', /^(?:\? )?Get started\b|^How would you like to authenticate/mu, false],
  ['question', /^Answer Questions\b/mu, false],
  ['plan', /^(?:Ready to start implementation|Approve plan|Plan:)/mu, false],
  ['permission', PERMISSION, false],
  ['model', /^Select Model\b/mu, true],
  ['settings', /^>? ?Settings\b/mu, true],
  ['theme', /^(?:> )?Select Theme\b/mu, true],
  ['loop', /^\? +A potential loop was detected/mu, false],
] as const;

/** In a question the title of the frame says nothing. */
function questionAt(words: readonly string[], headAt: number): number {
  const found = words.findIndex((line, at) => at !== headAt && !/^←|│/u.test(line));
  return found < 0 ? headAt : found;
}

function insideOf({ text }: AnsiRow, indent: number): string {
  return withoutRightEdge(text.slice(indent).replace(/^│ ?/u, ''));
}

function withoutRightEdge(text: string): string {
  return text.endsWith('│') ? text.slice(0, -1).trimEnd() : text;
}

/** An empty line there is a part of the command. */
const IN_FRAME = /^ *│/u;

/** Without the inner frame around a command, whose indents are a part of it. */
function unframed(line: string): string {
  const text = line.trim();
  if (/^[╭╰]─+[╮╯]$/u.test(text)) return '';
  const inside = withoutRightEdge(text.replace(/^│ ?/u, ''));
  return IN_FRAME.test(line) ? inside.trimEnd() : inside.trim();
}

const OPTION = /^(?:(●) *)?(\d{1,2})\. +(\S.*)$/u;

interface OptionList {
  readonly options: readonly AgentDialogOption[];
  readonly rows: ReadonlySet<number>;
  readonly hasMore: boolean;
}

function readList(lines: readonly string[]): OptionList {
  const heads = lines.flatMap((line, at) => {
    const [, mark, number, label = ''] = OPTION.exec(line.trimStart()) ?? [];
    return number === undefined ? [] : [{ at, number: Number(number), label: label.trim(), selected: mark === '●' }];
  });
  const focus = heads.findLastIndex(({ selected }) => selected);
  if (focus < 0) return { options: [], rows: new Set(), hasMore: false };
  const own = optionsAround(heads, focus);
  const rows = new Set<number>();
  const options = own.map(({ at, number, label, selected }, index): AgentDialogOption => {
    rows.add(at);
    const about: string[] = [];
    for (let next = at + 1; next < (own[index + 1]?.at ?? lines.length); next++) {
      const line = lines[next]?.trim() ?? '';
      if (line === '' || SCROLL.test(line) || HELP.test(line)) break;
      rows.add(next);
      about.push(line);
    }
    return { number, label: label.replace(/ \(esc\)$/u, ''), about: about.join(' '), selected };
  });
  // The arrows of a longer list; only their colours tell whether there is more in that direction.
  return { options, rows, hasMore: lines.some((line) => SCROLL.test(line.trim())) };
}

function isTicked(options: readonly AgentDialogOption[]): boolean {
  return options.some(({ label }) => /^\[.\]/u.test(label));
}

/** The option for an answer in one's own words, before somebody has written one. */
const OWN_WORDS = /^Enter a custom value\b/u;

function withDigit(which: string, option: AgentDialogOption): AgentDialogOption {
  if (which === 'question' && OWN_WORDS.test(option.label))
    return { ...option, field: option.selected ? 'empty' : 'closed' };
  const isPlain = which === 'question' || which === 'permission' || which === 'trust';
  return isPlain && option.number !== undefined && option.number < 10
    ? { ...option, key: String(option.number) }
    : option;
}
