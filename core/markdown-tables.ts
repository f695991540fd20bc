// Discord has no tables: a pipe table becomes an aligned code block, and all other text stays unchanged.
// A table too wide for a code block becomes a list with one entry per row: wrapped rows are hard to read, and in a list the
// links and bold words of the cells still work.

import { type Fence, fenceAfter } from './split.ts';
import { insideFence } from './untrusted-text.ts';

const WIDEST = 100;
/** Removing markup shortens a cell, but a cell longer than this would still not fit. */
const LONGEST_CELL = 10 * WIDEST;
const SHORT_NAME = 20;

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
  // A long name is not repeated in each row: a small table would become hundreds of megabytes. It is listed once.
  const isLong = (name: string) => name.length > WIDEST;
  const names = head.map((name) => (isLong(name) ? `${name.slice(0, SHORT_NAME)}…` : plainCell(name)));
  const first = head.some(isLong) ? [`- ${head.join('\n  ')}`] : [];
  const entries = rows.map((row) => {
    const fields = row.flatMap((cell, i) => {
      const name = names[i] ?? '';
      if (cell === '') return [];
      return [name === '' ? cell : `**${name}**: ${cell}`];
    });
    return `- ${fields.join('\n  ')}`;
  });
  return (rows.length === 0 ? [`- ${head.join('\n- ')}`] : [...first, ...entries]).join('\n');
}

// Removes the Markdown from a table cell. Takes linear time: unclosed markup is scanned only once.

/** A code block shows markup instead of applying it. A link keeps its address, so nothing is lost. */
function plainCell(cell: string): string {
  const codes: string[] = [];
  const held = cell.replaceAll('\0', '');
  let text = withoutCode(held, (code) => `\0${codes.push(code.trim()) - 1}\0`)
    .replace(/<br[ \t]{0,9}\/?>/gi, ' ')
    .replace(/!?\[([^[\]]*)\]\(<?([^()\s>]+)>?(?:\s[^()]*)?\)/g, (_, text: string, url: string) =>
      text === '' || text === url ? url : `${text} (${url})`,
    );
  for (const mark of ['**', '__', '~~']) text = withoutPairs(text, mark);
  return text
    .replace(/(?<![\w*])\*(?=[^\s*])([^*]+)(?<=[^\s*])\*(?![\w*])/g, '$1')
    .replace(/(?<![\w_])_(?=[^\s_])([^_]+)(?<=[^\s_])_(?![\w_])/g, '$1')
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\0(\d+)\0/g, (_, i: string) => codes[Number(i)] ?? '');
}

/** A run of backticks opens code; the next run of the same length closes it. */
function withoutCode(text: string, hold: (code: string) => string): string {
  const runs = [...text.matchAll(/`+/g)].map(({ index, 0: run }) => ({ at: index, size: run.length }));
  const closing: (number | undefined)[] = [];
  const next = new Map<number, number>();
  for (let i = runs.length - 1; i >= 0; i--) {
    const { size } = runs[i] ?? { size: 0 };
    closing[i] = next.get(size);
    next.set(size, i);
  }
  const out: string[] = [];
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const open = runs[i];
    const end = closing[i];
    const close = end === undefined ? undefined : runs[end];
    if (open === undefined || close === undefined || end === undefined) continue;
    out.push(text.slice(from, open.at), hold(text.slice(open.at + open.size, close.at)));
    from = close.at + close.size;
    i = end;
  }
  return out.join('') + text.slice(from);
}

/** Matches `mark`, text that neither begins nor ends with a blank, `mark`. */
function withoutPairs(text: string, mark: string): string {
  const out: string[] = [];
  let from = 0;
  let open = text.indexOf(mark);
  let close = -1;
  while (open >= 0) {
    const inner = open + mark.length;
    if (isBlank(text, inner)) {
      open = text.indexOf(mark, open + 1);
      continue;
    }
    if (close <= inner) close = text.indexOf(mark, inner + 1);
    while (close >= 0 && isBlank(text, close - 1)) close = text.indexOf(mark, close + 1);
    if (close < 0) break;
    out.push(text.slice(from, open), text.slice(inner, close));
    from = close + mark.length;
    open = text.indexOf(mark, from);
  }
  return out.join('') + text.slice(from);
}

function isBlank(text: string, at: number): boolean {
  return at >= text.length || /\s/.test(text.charAt(at));
}

// The number of columns that a text takes in a fixed-width font, so that tables line up.

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** East Asian wide and full-width blocks: fonts draw them two columns wide. */
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{17000}-\u{18aff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Emoji}\ufe0f|\p{Regional_Indicator}{2})/u;
const NOTHING = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;
const PRINTABLE_ASCII = /^[ -~]*$/;

/** The segmenter takes quadratic time, so it gets one piece at a time. No real grapheme is longer than this. */
const PIECE = 128;

export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  let columns = 0;
  for (let at = 0; at < text.length; ) {
    const found = [...graphemes.segment(text.slice(at, at + PIECE))];
    // The last grapheme may continue after the piece.
    if (found.length > 1 && at + PIECE < text.length) found.pop();
    for (const { segment } of found) {
      columns += widthOf(segment);
      at += segment.length;
    }
  }
  return columns;
}

function widthOf(grapheme: string): 0 | 1 | 2 {
  if (NOTHING.test(grapheme)) return 0;
  return WIDE.test(grapheme) || EMOJI.test(grapheme) ? 2 : 1;
}
