// Classifies what OpenCode's pane shows. Its lists float over the page and leave the box visible, so the box counts only if the
// terminal's cursor is in it. Everything that is not recognised is `unknown`, and nothing is typed into it.

import { rowsOfAgent, withoutMargin, withSpacesShown } from '../agent-rows.ts';
import type { AnsiRow } from '../claude/screen/box.ts';
import type { AgentDialog, AgentScreen, PaneFacts } from '../screen.ts';

export function readOpencodeScreen(ansi: string, facts: PaneFacts = {}): AgentScreen {
  const seen = rowsOfAgent(ansi, facts);
  if ('screen' in seen) return seen.screen;
  const rows = seen.rows.map(textOf);
  const box = findBox(rows);
  if (box !== undefined && hasCursor(box, facts)) return readBox(rows, box, facts);
  // The prompt first: text of the agent can look like the title of a list, and its card would not show what is asked.
  const dialog = findPrompt(seen.rows.map(withSpacesShown)) ?? findList(seen.rows);
  if (dialog !== undefined) return { kind: 'dialog', ...dialog };
  if (showsSubagent(rows)) return { kind: 'subagent' };
  return { kind: box === undefined ? 'unknown' : 'aside' };
}

/** With the spaces at the end: the box is painted over its whole width. */
function textOf({ cells }: AnsiRow): string {
  return cells.map(({ char }) => char).join('');
}

interface OpencodeBox {
  /** The row of the lower edge. */
  readonly bottom: number;
  readonly left: number;
  /** Between its edges, without the padding; the text begins in column `left + 3`. */
  readonly lines: readonly string[];
  /** The row of its first line. */
  readonly top: number;
  /** "Build · Claude Sonnet", or "Shell" in shell mode. */
  readonly agent: string;
  readonly hasMenu: boolean;
}

const EDGE = /^( *)╹(▀{10,})/u;

/**
 * From the lower edge upwards: the row with the agent, an empty row, the lines of the text, an empty row. A list of completions
 * stands directly above it, with an edge on both sides.
 */
function findBox(rows: readonly string[]): OpencodeBox | undefined {
  const bottom = rows.findLastIndex((row) => EDGE.test(row));
  const edge = EDGE.exec(rows[bottom] ?? '');
  if (edge === null) return undefined;
  const left = edge[1]?.length ?? 0;
  const width = (edge[2]?.length ?? 0) + 1;
  let first = bottom;
  while (isInside(rows[first - 1], left)) first--;
  const inside = rows.slice(first, bottom).map((row) => row.slice(left, left + width));
  const menu = inside.findLastIndex((row) => /^┃.*┃ *$/u.test(row)) + 1;
  const own = inside.slice(menu).map((row) => row.slice(1));
  if (own.length < 4 || !isBlank(own[0]) || !isBlank(own.at(-2))) return undefined;
  return {
    bottom,
    left,
    top: first + menu + 1,
    hasMenu: menu > 0,
    agent: own.at(-1)?.trim() ?? '',
    lines: own.slice(1, -2).map((line) => line.slice(2).trimEnd()),
  };
}

function isInside(row: string | undefined, left: number): boolean {
  return row !== undefined && row[left] === '┃' && isBlank(row.slice(0, left));
}

function isBlank(text: string | undefined): boolean {
  return text !== undefined && text.trim() === '';
}

function hasCursor({ left, top, lines }: OpencodeBox, { cursorX, cursorY, cursorShown }: PaneFacts): boolean {
  if (cursorShown === false || cursorX === undefined || cursorY === undefined) return false;
  return cursorX >= left + 3 && cursorY >= top && cursorY < top + lines.length;
}

/** An example in an empty box of a new conversation. */
const PLACEHOLDER = /^(?:Ask anything|Run a command)(?:…|\.\.\.)(?: ".*")?$/u;
const BUSY = / esc (?:again to )?interrupt\b/u;

function readBox(rows: readonly string[], box: OpencodeBox, facts: PaneFacts): AgentScreen {
  const { lines, left, top, bottom } = box;
  const isAtStart = facts.cursorX === left + 3;
  const isHint = lines.length === 1 && PLACEHOLDER.test(lines[0] ?? '') && isAtStart;
  const text = isHint ? '' : lines.join('\n').trimEnd();
  if (box.agent === 'Shell') return { kind: 'shellMode', text };
  if (box.hasMenu) return { kind: 'menu', text };
  const busy = rows.slice(bottom + 1).some((row) => BUSY.test(row));
  const isEmpty = text === '' && lines.length === 1 && isAtStart;
  if (!isEmpty) return { kind: 'draft', text, busy, stashed: false };
  const queued = rows.slice(0, top).some((row) => /^ *┃ +QUEUED */u.test(row));
  return { kind: 'empty', busy, queued, stashed: false, mode: box.agent.split(' ', 1)[0]?.toLowerCase() ?? '' };
}

/** The first row of every list and panel has its title, and on the right the key that closes it. */
function findList(rows: readonly AnsiRow[]): AgentDialog | undefined {
  for (const [at, row] of rows.entries()) {
    const before = / {3}esc(?:\/enter)?(?: {3}|$)/u.exec(textOf(row).trimEnd());
    if (before === null) continue;
    const background = row.cells[[...before.input.slice(0, before.index)].length]?.background ?? '';
    const title = onList(row, background).text.split(/ {3,}/u)[0] ?? '';
    if (title === '' || title === '┃') continue;
    return {
      which: 'list',
      full: true,
      form: 'unknown',
      title,
      text: entriesOf(rows.slice(at + 1), background),
      options: [],
      hasMore: false,
      field: undefined,
      help: 'esc',
    };
  }
  return undefined;
}

/** Enter takes the highlighted one, which only its background shows. */
function entriesOf(rows: readonly AnsiRow[], background: string): readonly string[] {
  const below = rows.map((row) => onList(row, background));
  const end = below.findIndex(({ isCovered }) => !isCovered);
  return below
    .slice(0, end < 0 ? undefined : end)
    .filter(({ text }) => text !== '')
    .map(({ text, isHighlighted }) => `${isHighlighted ? '❯' : ' '} ${text.replace(/ {3,}/gu, '  ')}`);
}

/** What the list covers of a row: it has one background, and the page beside it has others. */
function onList({ cells }: AnsiRow, background: string) {
  const first = cells.findIndex((cell) => cell.background === background);
  const last = cells.findLastIndex((cell) => cell.background === background);
  const own = first < 0 ? [] : cells.slice(first, last + 1);
  return {
    isCovered: first >= 0,
    isHighlighted: own.some((cell) => cell.background !== background),
    text: own
      .map(({ char }) => char)
      .join('')
      .trim(),
  };
}

const PERMISSION_KEYS = '⇆ select  enter con';
const QUESTION_KEYS = '  esc dismiss';
const SUBAGENT = / \(\d{1,4} of \d{1,4}\) /u;

/** It takes the place of the box, at the bottom of the screen. */
function findPrompt(seen: readonly AnsiRow[]): AgentDialog | undefined {
  const rows = seen.map(({ text }) => text);
  const last = rows.findLastIndex((row) => EDGE_LEFT.test(row));
  const help = inside(rows[last - 1] ?? '');
  const isQuestion = help.includes(QUESTION_KEYS);
  if (!isQuestion && !help.includes(PERMISSION_KEYS)) return undefined;
  let first = last;
  while (EDGE_LEFT.test(rows[first - 1] ?? '')) first--;
  const text = rows
    .slice(first, last - 1)
    .map(inside)
    .filter((row) => row !== '');
  const isSeen = first > 0 && last - first + 1 < MOST_PROMPT_ROWS;
  const isWhole = isQuestion || (text[0]?.startsWith('△ ') && isSeen);
  return {
    which: isQuestion ? 'question' : 'permission',
    full: false,
    form: 'unknown',
    title: isWhole ? (text[0] ?? '').replace('△ ', '') : '',
    text: isQuestion ? text : withoutMargin(rows.slice(first, last - 1).map((row) => row.replace(EDGE_LEFT, ''))),
    options: seen
      .slice(isQuestion ? first : last - 1, last)
      .map(highlightedIn)
      .filter((label) => label !== '')
      .map((label) => ({ number: undefined, label, about: '', selected: true })),
    hasMore: false,
    field: undefined,
    help,
  };
}

/** What Enter takes: only its background shows it. */
function highlightedIn({ cells }: AnsiRow): string {
  const from = cells.findIndex(({ char }) => char === '┃') + 1;
  const [own, page] = [cells[from]?.background, cells.at(-1)?.background];
  return cells
    .slice(from)
    .filter(({ background }) => background !== own && background !== page)
    .map(({ char }) => char)
    .join('')
    .trim();
}

/** A prompt gets no more rows. What does not fit is left out, and nothing says so. */
const MOST_PROMPT_ROWS = 15;

/** The keys of the view of a subagent's conversation, instead of the box. */
function showsSubagent(rows: readonly string[]): boolean {
  const last = rows.findLastIndex((row) => EDGE_LEFT.test(row));
  const keys = rows[last - 1] ?? '';
  return EDGE_LEFT.test(keys) && SUBAGENT.test(keys) && keys.includes('Parent ');
}

const EDGE_LEFT = /^ *┃/u;
const inside = (row: string): string => row.replace(EDGE_LEFT, '').trim();
