// Draws rows of styled cells as an SVG of a dark terminal. Every character has its place in the grid. Output of a terminal
// always becomes text: none of it can become markup or a reference.
import {
  BACKGROUND,
  dimmed,
  FOREGROUND,
  hex,
  type PictureCell,
  type PictureRow,
  type PictureSize,
  type PictureStyle,
  PLAIN_STYLE,
} from './rows.ts';
import { type Shape, shapesOf, standIn } from './symbols.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export const FONT_FAMILY = 'DejaVu Sans Mono';
/** A smaller picture looks odd. */
const LEAST: PictureSize = { width: 40, height: 3 };

/** Undefined if the font cannot show something on the screen, or if there is more than a picture can show readably. */
export function pictureSvg(
  rows: readonly PictureRow[],
  size: PictureSize,
  cursor: Point | undefined,
  isCovered: (codePoint: number) => boolean,
): string | undefined {
  const inks = withCursor(rows, cursor).map((row) => row.map(inkOf));
  if (!inks.every((row) => row.every((ink) => isDrawable(ink, isCovered)))) return undefined;
  const used = extent(inks, size);
  const grid = gridFor(used);
  if (grid === undefined) return undefined;
  const w = used.width * grid.width + 2 * grid.margin;
  const h = used.height * grid.height + 2 * grid.margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" xml:space="preserve">`,
    `<rect width="${w}" height="${h}" fill="${hex(BACKGROUND)}"/>`,
    `<g transform="translate(${grid.margin} ${grid.margin})" font-family="${FONT_FAMILY}" font-size="${grid.fontSize}">`,
    ...inks.slice(0, used.height).flatMap((row, y) => drawnRow(row, y * grid.height, grid)),
    '</g></svg>',
  ].join('\n');
}

/** A cell with its final colours. */
interface Ink {
  readonly text: string;
  /** Undefined: drawn with the font. */
  readonly shapes: readonly Shape[] | undefined;
  readonly column: number;
  readonly width: number;
  readonly fg: string;
  /** Undefined: the background of the picture. */
  readonly bg: string | undefined;
  readonly style: PictureStyle;
}

function withCursor(rows: readonly PictureRow[], cursor: Point | undefined): readonly PictureRow[] {
  if (cursor === undefined) return rows;
  const missing = Math.max(0, cursor.y + 1 - rows.length);
  const padded = [...rows, ...Array.from({ length: missing }, (): PictureRow => [])];
  return padded.map((row, y) => (y === cursor.y ? cursorRow(row, cursor.x) : row));
}

function cursorRow(row: PictureRow, x: number): PictureRow {
  const isUnder = ({ column, width }: PictureCell) => x >= column && x < column + width;
  const flipped = (cell: PictureCell): PictureCell => ({
    ...cell,
    style: { ...cell.style, inverse: !cell.style.inverse },
  });
  if (row.some(isUnder)) return row.map((cell) => (isUnder(cell) ? flipped(cell) : cell));
  return [...row, flipped({ text: ' ', column: x, width: 1, style: PLAIN_STYLE })];
}

function inkOf({ text, column, width, style }: PictureCell): Ink {
  const instead = standIn(text);
  const shown = instead?.text ?? text.replace(/\p{Cf}|\p{Variation_Selector}/gu, '');
  const own = instead?.fg ?? style.fg ?? FOREGROUND;
  const under = style.bg ?? BACKGROUND;
  const [fg, bg] = style.inverse ? [under, own] : [own, under];
  return {
    text: style.hidden || /^\s*$/.test(shown) ? ' ' : shown,
    shapes: style.hidden ? undefined : shapesOf(shown),
    column,
    width,
    fg: hex(style.dim ? dimmed(fg, bg) : fg),
    bg: style.inverse || style.bg !== undefined ? hex(bg) : undefined,
    style,
  };
}

/** Right-to-left scripts would be drawn in a different order than the cells. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]/;

function isDrawable({ text, shapes }: Ink, isCovered: (codePoint: number) => boolean): boolean {
  if (text === ' ' || shapes !== undefined) return true;
  return !RIGHT_TO_LEFT.test(text) && [...text].every((char) => isCovered(char.codePointAt(0) ?? 0));
}

const RULE = /^[ ─━═▔▁]$/u;

/** The used part of the pane: an empty right or lower part would only make the rest smaller. */
function extent(inks: readonly (readonly Ink[])[], size: PictureSize): PictureSize {
  const isSeen = ({ text, bg, style }: Ink) => text !== ' ' || bg !== undefined || style.underline || style.strike;
  const lasts = inks.map((row) => row.findLast(isSeen));
  const ends = lasts.map((last) => (last === undefined ? 0 : last.column + last.width));
  // A rule is as wide as the pane and says nothing: it is cut, so that the text is larger.
  const texts = ends.filter((_, y) => !inks[y]?.every(({ text }) => RULE.test(text)));
  return {
    width: Math.min(size.width, Math.max(LEAST.width, ...texts)),
    height: Math.min(size.height, Math.max(LEAST.height, ends.findLastIndex((end) => end > 0) + 1)),
  };
}

function drawnRow(row: readonly Ink[], top: number, grid: Grid): readonly string[] {
  const bars = (y: number, height: number, colourOf: (ink: Ink) => string | undefined) =>
    runs(row, colourOf).map(({ colour, column, width }) =>
      rect(column * grid.width, top + y, width * grid.width, height, colour),
    );
  return [
    ...bars(0, grid.height, ({ bg }) => bg),
    ...row.flatMap((ink) => (ink.shapes ?? []).map((shape) => drawn(shape, ink, top, grid))),
    ...textRuns(row).map((run) => written(run, top + grid.baseline, grid)),
    ...bars(grid.underline, grid.stroke, ({ style, fg }) => (style.underline ? fg : undefined)),
    ...bars(grid.strike, grid.stroke, ({ style, fg }) => (style.strike ? fg : undefined)),
  ];
}

/** Joins neighbours of the same colour; cells without one are left out. */
function runs(row: readonly Ink[], colourOf: (ink: Ink) => string | undefined) {
  const found: { colour: string; column: number; width: number }[] = [];
  for (const ink of row) {
    const colour = colourOf(ink);
    const last = found.at(-1);
    if (colour === undefined) continue;
    if (last?.colour === colour && last.column + last.width === ink.column) last.width += ink.width;
    else found.push({ colour, column: ink.column, width: ink.width });
  }
  return found;
}

interface TextRun {
  readonly first: Ink;
  text: string;
  /** The column where it can continue; undefined if it cannot. */
  next: number | undefined;
}

/** Text of one style. A wide character or one with marks is drawn alone: only plain characters surely have the width of a cell. */
function textRuns(row: readonly Ink[]): readonly TextRun[] {
  const found: TextRun[] = [];
  for (const ink of row.filter(({ shapes }) => shapes === undefined)) {
    const last = found.at(-1);
    const isPlain = ink.text.length === 1 && ink.width === 1;
    if (last?.next === ink.column && isPlain && looksLike(last.first, ink)) {
      last.text += ink.text;
      last.next++;
    } else found.push({ first: ink, text: ink.text, next: isPlain ? ink.column + 1 : undefined });
  }
  return found.filter(({ text }) => text.trim() !== '');
}

function looksLike(one: Ink, other: Ink): boolean {
  return one.fg === other.fg && one.style.bold === other.style.bold && one.style.italic === other.style.italic;
}

function written({ first, text }: TextRun, y: number, grid: Grid): string {
  const x = first.column * grid.width;
  // The slanted variant of the font is not worth its size.
  const at = first.style.italic ? `transform="translate(${x} ${y}) skewX(-12)"` : `x="${x}" y="${y}"`;
  const weight = first.style.bold ? ' font-weight="bold"' : '';
  return `<text ${at} fill="${first.fg}"${weight}>${escaped(text.trimEnd())}</text>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (char) => ENTITIES[char] ?? '');
}

function drawn(shape: Shape, { fg, column }: Ink, top: number, grid: Grid): string {
  const x = (part: number) => (column + part) * grid.width;
  const y = (part: number) => top + part * grid.height;
  switch (shape.kind) {
    case 'box': {
      const [left, right] = [Math.round(x(shape.left)), Math.round(x(shape.right))];
      const [upper, lower] = [Math.round(y(shape.top)), Math.round(y(shape.bottom))];
      return rect(left, upper, right - left, lower - upper, fg, shape.opacity);
    }
    case 'dot':
      return `<circle cx="${x(shape.x)}" cy="${y(shape.y)}" r="${grid.width / 8}" fill="${fg}"/>`;
    case 'area':
      return `<polygon points="${shape.points.map(([px, py]) => `${x(px)},${y(py)}`).join(' ')}" fill="${fg}"/>`;
  }
}

function rect(x: number, y: number, w: number, h: number, fill: string, opacity?: number): string {
  const veil = opacity === undefined ? '' : ` fill-opacity="${opacity}"`;
  return `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="${fill}"${veil}/>`;
}

// The size of the cells in whole pixels, so that there are no gaps between neighbours.
interface Grid {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  readonly fontSize: number;
  /** From the top of a cell: the baseline, and where the lines under and through the letters begin. */
  readonly baseline: number;
  readonly underline: number;
  readonly strike: number;
  readonly stroke: number;
}

/** Twice the size of a usual screen. */
const LARGEST = 17;
/** Smaller letters are unreadable. */
const SMALLEST = 8;
/** Takes well under a second to draw, and well under a megabyte. */
const PIXELS = 3_000_000;

/** DejaVu Sans Mono, in its own units: the width of a letter is the width of a cell, the height is the font's line height. */
const EM = 2048;
const LETTER = 1233;
const ABOVE = 1901;
const BELOW = 483;

/** Undefined if it is too much for one picture. */
export function gridFor(size: PictureSize): Grid | undefined {
  const ratio = (ABOVE + BELOW) / LETTER;
  const fitting = Math.floor(Math.sqrt(PIXELS / (size.width * size.height * ratio)));
  if (fitting < SMALLEST) return undefined;
  const width = Math.min(LARGEST, fitting);
  const height = Math.round(width * ratio);
  const baseline = Math.floor((height * ABOVE) / (ABOVE + BELOW));
  const stroke = Math.max(1, Math.round(width / 8));
  return {
    width,
    height,
    margin: width,
    fontSize: (width * EM) / LETTER,
    baseline,
    underline: baseline + stroke,
    strike: baseline - Math.round(height * 0.27),
    stroke,
  };
}
