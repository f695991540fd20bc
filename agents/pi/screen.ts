// Classifies what pi's pane shows. Its box has no prompt and no hint: it lies between two rules, and only the cursor that pi itself
// draws shows that it has the focus. Everything that is not recognised is `unknown`, and nothing is typed into it.

import { rowsOfAgent } from '../agent-rows.ts';
import type { AnsiRow } from '../claude/screen/box.ts';
import type { AgentScreen, PaneFacts } from '../screen.ts';

export function readPiScreen(ansi: string, facts: PaneFacts = {}): AgentScreen {
  const seen = rowsOfAgent(ansi, facts);
  if ('screen' in seen) return seen.screen;
  const { rows } = seen;
  const panel = findPanel(rows, facts.width);
  return panel === undefined ? { kind: 'unknown' } : readPanel(rows, panel, facts);
}

interface PiPanel {
  /** The rows of the rules. */
  readonly top: number;
  readonly bottom: number;
  readonly inside: readonly AnsiRow[];
  /** Completions and status. */
  readonly below: readonly AnsiRow[];
}

/** pi ends with its status: the folder, then the use of the model. */
const STATUS = /\d%\/\d/u;
/** A long text has a rule that says how many lines are out of sight. */
const RULE = /^─{3}(?:─*| [↑↓] \d{1,6} more ─*)$/u;

function findPanel(rows: readonly AnsiRow[], width?: number): PiPanel | undefined {
  const isRule = ({ text }: AnsiRow) => RULE.test(text) && (width === undefined || [...text].length === width);
  const bottom = rows.findLastIndex(isRule);
  const top = rows.slice(0, Math.max(bottom, 0)).findLastIndex(isRule);
  const below = rows.slice(bottom + 1).filter(({ text }) => text !== '');
  if (top < 0 || !below.some(({ text }) => STATUS.test(text))) return undefined;
  return { top, bottom, inside: rows.slice(top + 1, bottom), below };
}

/** A list or question of pi has several lines, and says how it is used or marks a line with an arrow. */
const LIST_LINE =
  /^ {0,2}→ |^>(?: |$)|\b(?:enter select|escape\/ctrl\+c cancel|esc(?:ape)? (?:to )?(?:cancel|close))\b/u;

function readPanel(rows: readonly AnsiRow[], { top, inside, below }: PiPanel, facts: PaneFacts): AgentScreen {
  const cursors = inside.flatMap((row, line) =>
    row.cells.flatMap(({ inverse }, at) => (inverse ? [{ line, at }] : [])),
  );
  const text = inside
    .map((row) => row.text)
    .join('\n')
    .trimEnd();
  const isList = inside.length > 2 && inside.some((row) => LIST_LINE.test(row.text));
  if (cursors.length !== 1 || isList) {
    const lines = inside.map((row) => row.text.trim()).filter((line) => line !== '');
    if (lines.length === 0) return { kind: 'aside' };
    return {
      kind: 'dialog',
      which: 'list',
      full: true,
      form: 'unknown',
      title: lines[0] ?? '',
      text: lines.slice(1),
      options: [],
      hasMore: false,
      field: undefined,
      help: lines.at(-1) ?? '',
    };
  }
  if (text.trimStart().startsWith('!')) return { kind: 'shellMode', text };
  if (below[0]?.text.startsWith('→ ')) return { kind: 'menu', text };
  const above = rows.slice(Math.max(0, top - 6), top);
  const busy = above.some((row) => SPINNER.test(row.text));
  // The terminal's own cursor is hidden, but pi puts it there, too.
  const isThere = (facts.cursorX ?? 0) === 0 && (facts.cursorY ?? top + 1) === top + 1;
  const isEmpty = text === '' && inside.length === 1 && cursors[0]?.at === 0 && isThere;
  if (!isEmpty) return { kind: 'draft', text, busy, stashed: false };
  const queued = above.some((row) => /^ (?:Steering|Follow-up): /u.test(row.text));
  return { kind: 'empty', busy, queued, stashed: false, mode: '' };
}

const SPINNER = /^ [\u2800-\u28ff] \S/u;
