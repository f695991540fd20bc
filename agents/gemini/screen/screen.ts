// Classifies what the pane of Gemini CLI shows. Only the box at the bottom, with its hint and the cursor in it, counts as safe to type
// into: while a command of the agent runs, the keys may go to that command. Everything that is not recognised is `unknown`.

import { rowsOfAgent } from '../../agent-rows.ts';
import type { AnsiRow } from '../../claude/screen/box.ts';
import type { AgentScreen, PaneFacts } from '../../screen.ts';
import { findGeminiDialog } from './dialog.ts';

export function readGeminiScreen(ansi: string, facts: PaneFacts = {}): AgentScreen {
  const seen = rowsOfAgent(ansi, facts);
  if ('screen' in seen) return seen.screen;
  const { rows } = seen;
  const box = findGeminiBox(rows);
  if (box !== undefined) return readBox(rows, box, facts);
  const dialog = findGeminiDialog(rows);
  return dialog === undefined ? { kind: 'unknown' } : { kind: 'dialog', ...dialog };
}

interface GeminiBox {
  /** The row of its upper edge. */
  readonly top: number;
  /** The row of its lower edge. */
  readonly bottom: number;
  readonly lines: readonly AnsiRow[];
  /** What is below it: a list of completions, then the footer. */
  readonly below: readonly AnsiRow[];
}

const UPPER = /^▄{10,}$/u;
const LOWER = /^▀{10,}$/u;
/** The line above the box tells the mode and how to change it. Prompts in the conversation look like a box, but have no such line. */
const MODE = /\b(?:Shift\+Tab|Ctrl\+Y)\b|\bshell mode enabled\b/u;
/** The overview of keys, above the box. */
const OVERVIEW = /^ ?Shortcuts See \/help/u;

/** The last box on the screen, if it is the live one. */
export function findGeminiBox(rows: readonly AnsiRow[]): GeminiBox | undefined {
  const bottom = rows.findLastIndex(({ text }) => LOWER.test(text));
  const top = rows.slice(0, Math.max(bottom, 0)).findLastIndex(({ text }) => UPPER.test(text));
  const above = rows[top - 1]?.text ?? '';
  if (top < 0 || !MODE.test(above)) return undefined;
  const lines = rows.slice(top + 1, bottom);
  if (!/^ [>!*](?: |$)/u.test(lines[0]?.text ?? '')) return undefined;
  const end = rows.findLastIndex(({ text }) => text !== '');
  return { top, bottom, lines, below: rows.slice(bottom + 1, end + 1) };
}

const HINT = 'Type your message or @path/to/file';
const SPINS = /^ ?[\u2800-\u28ff] .*\(esc to cancel\b/u;
const QUEUED = /^ {2}Queued \(press ↑ to edit\)/u;

function readBox(rows: readonly AnsiRow[], box: GeminiBox, facts: PaneFacts): AgentScreen {
  const { top, lines, below } = box;
  const above = rows.slice(Math.max(0, top - 12), top);
  const text = writtenText(lines);
  const mode = rows[top - 1]?.text ?? '';
  if (lines[0]?.text.startsWith(' !') || /\bshell mode enabled\b/u.test(mode)) return { kind: 'shellMode', text };
  const busy = above.some((row) => SPINS.test(row.text));
  const hint = lines.length === 1 && isHinted(lines[0]);
  if (!hint) {
    if (!hasFocus(lines)) return { kind: 'aside' };
    const isMenu = below.some((row) => /^ \(\d+\/\d+\)$/u.test(row.text)) || (/[/@]/u.test(text) && below.length > 2);
    return isMenu ? { kind: 'menu', text } : { kind: 'draft', text, busy, stashed: false };
  }
  if (!isReady(box, facts) || above.some((row) => OVERVIEW.test(row.text))) return { kind: 'aside' };
  const queued = above.some((row) => QUEUED.test(row.text));
  return { kind: 'empty', busy, queued, stashed: false, mode: modeOf(mode) };
}

/**
 * Gemini CLI draws its own cursor, as an inverse cell before the hint. In a draft of the same words the cursor is on a letter or has a
 * colour, and without the focus there is none.
 */
function isHinted(row: AnsiRow | undefined): boolean {
  const [, , , cursor, ...rest] = row?.cells ?? [];
  if (cursor === undefined || cursor.char !== ' ' || !cursor.inverse || cursor.coloured) return false;
  return (
    rest
      .map(({ char }) => char)
      .join('')
      .trim() === HINT
  );
}

function hasFocus(lines: readonly AnsiRow[]): boolean {
  return lines.some(({ cells }) => cells.some(({ inverse }) => inverse));
}

/** It hides the terminal's cursor, but moves it to its own one. */
function isReady({ top }: GeminiBox, { cursorX, cursorY }: PaneFacts): boolean {
  return (cursorY === undefined || cursorY === top + 1) && (cursorX === undefined || cursorX === 3);
}

function writtenText(lines: readonly AnsiRow[]): string {
  if (lines.length === 1 && isHinted(lines[0])) return '';
  return lines
    .map(({ text }) => text.slice(3).trimEnd())
    .join('\n')
    .trimEnd();
}

function modeOf(line: string): string {
  const [, word = ''] = /^ *(auto-accept edits|plan|YOLO)\b/u.exec(line) ?? [];
  return { 'auto-accept edits': 'acceptEdits', plan: 'plan', YOLO: 'yolo' }[word] ?? '';
}
