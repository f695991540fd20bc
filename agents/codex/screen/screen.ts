// Classifies what Codex's pane shows. Only the input box at the bottom, with its hint, its footer and the cursor, counts as safe
// to type into; everything that is not recognised is `unknown`, and nothing is typed into it.

import { rowsOfAgent } from '../../agent-rows.ts';
import { type AnsiRow, isHint } from '../../claude/screen/box.ts';
import type { AgentScreen, PaneFacts } from '../../screen.ts';
import { findCodexDialog } from './dialog.ts';

export function readCodexScreen(ansi: string, facts: PaneFacts = {}): AgentScreen {
  const seen = rowsOfAgent(ansi, facts);
  if ('screen' in seen) return seen.screen;
  const { rows } = seen;
  const box = findCodexBox(rows);
  if (box !== undefined) return readBox(rows, box, facts);
  if (AGENTS_KEYS.test(lastText(rows))) return { kind: 'agents' };
  const dialog = findCodexDialog(rows);
  return dialog === undefined ? { kind: 'unknown' } : { kind: 'dialog', ...dialog };
}

/** The list of all agents, which the left arrow opens in an empty box. There, letters are commands: "n" starts another agent. */
const AGENTS_KEYS = /^ *\? help\b.*\besc back\b/u;

interface CodexBox {
  /** The row of its first line. */
  readonly top: number;
  /** The rows of its text. */
  readonly lines: readonly AnsiRow[];
  /** What is below it: model and folder, then keys. */
  readonly footer: readonly AnsiRow[];
}

/** Model and folder, below the box. No dialog has it. */
const PLACE = /^ {2}\S.* · \S/u;

/**
 * The box is the last thing on the screen. Its first line begins with a bright `›`; prompts in the conversation have a dim one, and the
 * highlighted line of a list an inverse one.
 */
export function findCodexBox(rows: readonly AnsiRow[]): CodexBox | undefined {
  const end = rows.findLastIndex(({ text }) => text !== '');
  let start = end;
  while (start > 0 && rows[start - 1]?.text !== '') start--;
  const footer = rows.slice(start, end + 1);
  const top = rows.slice(0, start).findLastIndex(isPrompt);
  if (top < 0 || !PLACE.test(footer[0]?.text ?? '') || footer.length > MOST_FOOTER_ROWS) return undefined;
  const bottom = rows.slice(0, start).findLastIndex(({ text }) => text !== '');
  const lines = rows.slice(top, bottom + 1);
  return lines.slice(1).every(({ text }) => /^(?: {2}|$)/u.test(text)) ? { top, lines, footer } : undefined;
}

const MOST_FOOTER_ROWS = 3;

function isPrompt({ cells }: AnsiRow): boolean {
  const [first, second] = cells;
  if (first === undefined || (first.char !== '›' && first.char !== '!')) return false;
  return !first.dim && !first.inverse && (second === undefined || second.char === ' ');
}

/** A narrow pane cuts it off. After Esc, a second one would do something; a text does not. */
const READY = /(?:^|\s)\? for s|^ {2}esc again to edit previous/mu;
const LIST_KEYS = /^ *enter\/tab insert\b/u;
const SHELL_MODE = /\bShell mode\b/u;
const WORKS = /^[•◦] .*\besc to interrupt\)/u;
const QUEUED = /^• (?:Messages to be submitted|Queued)/u;

function readBox(rows: readonly AnsiRow[], box: CodexBox, facts: PaneFacts): AgentScreen {
  const { top, lines, footer } = box;
  const text = writtenText(lines);
  const keys = footer.map((row) => row.text).join('\n');
  if (rows[top]?.text.startsWith('!') || SHELL_MODE.test(keys)) return { kind: 'shellMode', text };
  if (!hasCursor(box, facts)) return { kind: 'aside' };
  const above = rows.slice(Math.max(0, top - 30), top);
  if (above.some(isListRow)) return { kind: 'menu', text };
  const busy = above.some((row) => WORKS.test(row.text));
  if (lines.length > 1 || !isHint([textCells(lines[0])])) return { kind: 'draft', text, busy, stashed: false };
  // Without this, something else has the keys: the overview of shortcuts, a search, a lost connection.
  if (!READY.test(keys) || !isAtStart(facts)) return { kind: 'aside' };
  const queued = above.some((row) => QUEUED.test(row.text));
  return { kind: 'empty', busy, queued, stashed: false, mode: /\bPlan mode\b/u.test(keys) ? 'plan' : '' };
}

function isListRow({ cells, text }: AnsiRow): boolean {
  return (cells[0]?.char === '›' && cells[0].inverse) || LIST_KEYS.test(text);
}

function textCells(row: AnsiRow | undefined): AnsiRow['cells'] {
  return row?.cells.slice(2) ?? [];
}

function writtenText(lines: readonly AnsiRow[]): string {
  if (lines.length === 1 && isHint([textCells(lines[0])])) return '';
  return lines.map((row) => row.text.slice(2)).join('\n');
}

function hasCursor({ top, lines }: CodexBox, { cursorY, cursorShown }: PaneFacts): boolean {
  if (cursorShown === false) return false;
  // A line break at the end of a draft is an empty line, which cannot be told from the space below the box.
  return cursorY === undefined || (cursorY >= top && cursorY <= top + lines.length);
}

function isAtStart({ cursorX }: PaneFacts): boolean {
  return cursorX === undefined || cursorX === 2;
}

function lastText(rows: readonly AnsiRow[]): string {
  return rows.findLast(({ text }) => text !== '')?.text ?? '';
}
