// Discord has no tables: a pipe table becomes an aligned code block, and all other text stays unchanged.
// A table too wide for a code block becomes a list with one entry per row: wrapped rows are hard to read, and in a list the
// links and bold words of the cells still work.

import { type Fence, fenceAfter } from './fences.ts';
import { insideFence } from './neutralise.ts';
import { plainCell } from './plain-cell.ts';
import { displayWidth } from './width.ts';

const WIDEST = 100;
/** Removing markup shortens a cell, but a cell longer than this would still not fit. */
const LONGEST_CELL = 10 * WIDEST;

export function tablesToCode(markdown: string): string {
  if (!markdown.includes('|')) return markdown;
  const lines = markdown.split('\n');
  const out: string[] = [];
  let fence: Fence | undefined;
  for (let at = 0; at < lines.length; ) {
    const table = fence === undefined ? tableAt(lines, at) : undefined;
    if (table === undefined) {
      const line = lines[at++] ?? '';
      fence = fenceAfter(line, fence);
      out.push(line);
    } else {
      out.push(asCode(table) ?? asList(table));
      at += table.lines;
    }
  }
  return out.join('\n');
}

type Align = 'left' | 'right' | 'center';

interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly aligns: readonly Align[];
  /** How many lines of the text the table takes. */
  readonly lines: number;
}

const DELIMITERS = /^\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?$/;

/** As GitHub does: a header and a delimiter row with the same number of cells, then every following line with a pipe. */
function tableAt(lines: readonly string[], at: number): Table | undefined {
  const delimiters = lines[at + 1]?.trim() ?? '';
  if (!lines[at]?.includes('|') || !delimiters.includes('|') || !DELIMITERS.test(delimiters)) return undefined;
  const head = cellsOf(lines[at] ?? '');
  const aligns = cellsOf(delimiters).map(alignOf);
  if (head.length !== aligns.length) return undefined;
  const rows: string[][] = [];
  for (let line = lines[at + 2]; line !== undefined && isRow(line); line = lines[at + 2 + rows.length])
    rows.push(cellsOf(line));
  return { head, rows, aligns, lines: 2 + rows.length };
}

function isRow(line: string): boolean {
  return line.includes('|') && fenceAfter(line, undefined) === undefined && !/^[ \t]*>/.test(line);
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}

function alignOf(delimiter: string): Align {
  if (!delimiter.endsWith(':')) return 'left';
  return delimiter.startsWith(':') ? 'center' : 'right';
}

function asCode({ head, rows, aligns }: Table): string | undefined {
  if ([head, ...rows].flat().some((cell) => cell.length > LONGEST_CELL)) return undefined;
  const cells = [head, ...rows].map((row) => row.map(plainCell));
  const widths: number[] = [];
  for (const row of cells)
    row.forEach((cell, i) => {
      widths[i] = Math.max(widths[i] ?? 1, displayWidth(cell));
    });
  if (widths.reduce((sum, width) => sum + width + 2, -2) > WIDEST) return undefined;
  const [first = '', ...others] = cells.map((row) =>
    widths
      .map((width, i) => padded(row[i] ?? '', width, aligns[i] ?? 'left'))
      .join('  ')
      .trimEnd(),
  );
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  return insideFence([first, rule, ...others].join('\n'));
}

function padded(cell: string, width: number, align: Align): string {
  const missing = width - displayWidth(cell);
  const before = align === 'left' ? 0 : align === 'right' ? missing : Math.floor(missing / 2);
  return ' '.repeat(before) + cell + ' '.repeat(missing - before);
}

function asList({ head, rows }: Table): string {
  const names = head.map((name) => (name.length > LONGEST_CELL ? name : plainCell(name)));
  const entries = rows.map((row) => {
    const fields = row.flatMap((cell, i) => {
      const name = names[i] ?? '';
      if (cell === '') return [];
      return [name === '' ? cell : `**${name}**: ${cell}`];
    });
    return `- ${fields.join('\n  ')}`;
  });
  return (rows.length === 0 ? [`- ${head.join('\n- ')}`] : entries).join('\n');
}
