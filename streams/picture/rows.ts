// Parses the output of `tmux capture-pane -e` into rows of styled cells, each with its column. No cell ever contains an escape
// sequence or a control character.

import { ANSI_TOKEN } from '../../agents/claude/screen/box.ts';

export interface PictureStyle {
  readonly fg: Colour | undefined;
  readonly bg: Colour | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly hidden: boolean;
  readonly strike: boolean;
}

export interface PictureCell {
  /** One character with its combining marks. */
  readonly text: string;
  readonly column: number;
  readonly width: 1 | 2;
  readonly style: PictureStyle;
}

export type PictureRow = readonly PictureCell[];

export const PLAIN_STYLE: PictureStyle = {
  fg: undefined,
  bg: undefined,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
  hidden: false,
  strike: false,
};

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

export function parseRows(ansi: string, { width, height }: PictureSize): readonly PictureRow[] {
  let style = PLAIN_STYLE;
  let lineDrawing = false;
  return ansi
    .replace(/\n$/, '')
    .split('\n')
    .slice(0, height)
    .map((line) => {
      const cells: PictureCell[] = [];
      let column = 0;
      for (const [token, sgr] of line.matchAll(ANSI_TOKEN)) {
        if (sgr !== undefined) style = restyle(style, sgr);
        else if (token === SHIFT_OUT || token === SHIFT_IN) lineDrawing = token === SHIFT_OUT;
        else if (CONTROL.test(token)) continue;
        else if (MARK.test(token)) addMark(cells, token);
        else if (column < width) {
          const text = lineDrawing ? (LINE_DRAWING[token] ?? token) : token;
          const cell = { text, column, width: WIDE.test(token) ? 2 : 1, style } as const;
          cells.push(cell);
          column += cell.width;
        }
      }
      return cells;
    });
}

const SHIFT_OUT = '\u000e';
const SHIFT_IN = '\u000f';

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROL = /^[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Cs}]/u;
const MARK = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;

/** A program can print any number of marks on one character; more than a few are unreadable. */
const MAX_MARKS = 4;

function addMark(cells: PictureCell[], mark: string): void {
  const last = cells.at(-1);
  if (last === undefined || last.text.length > MAX_MARKS) return;
  cells[cells.length - 1] = { ...last, text: (last.text + mark).normalize('NFC') };
}

/** The DEC character set that programs without UTF-8 use to draw boxes. */
const LINE_DRAWING: Readonly<Record<string, string>> = {
  '`': '◆',
  a: '▒',
  f: '°',
  g: '±',
  j: '┘',
  k: '┐',
  l: '┌',
  m: '└',
  n: '┼',
  o: '⎺',
  p: '⎻',
  q: '─',
  r: '⎼',
  s: '⎽',
  t: '├',
  u: '┤',
  v: '┴',
  w: '┬',
  x: '│',
  y: '≤',
  z: '≥',
  '{': 'π',
  '|': '≠',
  '}': '£',
  '~': '·',
};

const ATTRIBUTES: Readonly<Record<number, Partial<PictureStyle>>> = {
  0: PLAIN_STYLE,
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  8: { hidden: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  28: { hidden: false },
  29: { strike: false },
  39: { fg: undefined },
  49: { bg: undefined },
};

function restyle(style: PictureStyle, sgr: string): PictureStyle {
  const codes = sgr.split(';');
  let next = style;
  for (let at = 0; at < codes.length; at++) {
    const [code = 0, ...parts] = (codes[at] ?? '').split(':').map(Number);
    if (code === 38 || code === 48 || code === 58) {
      // With colons a colour is one code; with semicolons it uses the codes after it.
      const given = parts.length > 0 ? parts : codes.slice(at + 1, at + 5).map(Number);
      if (parts.length === 0) at += given[0] === 2 ? 4 : 2;
      if (code === 38) next = { ...next, fg: extended(given) };
      else if (code === 48) next = { ...next, bg: extended(given) };
    } else if (code === 4 && parts.length > 0) next = { ...next, underline: parts[0] !== 0 };
    else if (code >= 30 && code <= 37) next = { ...next, fg: indexed(code - 30) };
    else if (code >= 90 && code <= 97) next = { ...next, fg: indexed(code - 82) };
    else if (code >= 40 && code <= 47) next = { ...next, bg: indexed(code - 40) };
    else if (code >= 100 && code <= 107) next = { ...next, bg: indexed(code - 92) };
    else next = { ...next, ...ATTRIBUTES[code] };
  }
  return next;
}

function extended([kind, ...numbers]: readonly number[]): Colour | undefined {
  if (kind === 5) return indexed(numbers[0] ?? 0);
  if (kind !== 2) return undefined;
  // The form with colons may contain a colour space before the three numbers.
  const [red = 0, green = 0, blue = 0] = numbers.slice(numbers.length > 3 ? 1 : 0);
  return [red, green, blue];
}

// The colours of a dark terminal: sixteen of our own, and the 256 that all terminals share.

export type Colour = readonly [red: number, green: number, blue: number];

export const FOREGROUND: Colour = [0xd8, 0xdb, 0xe2];
export const BACKGROUND: Colour = [0x16, 0x18, 0x1d];

const SIXTEEN: readonly Colour[] = [
  [0x3a, 0x3f, 0x4b],
  [0xe0, 0x6c, 0x75],
  [0x7f, 0xc0, 0x6e],
  [0xe0, 0xb0, 0x60],
  [0x61, 0x9f, 0xef],
  [0xc6, 0x78, 0xdd],
  [0x4f, 0xb8, 0xc2],
  [0xc3, 0xc8, 0xd2],
  [0x6b, 0x73, 0x84],
  [0xff, 0x8a, 0x92],
  [0x9e, 0xdf, 0x8b],
  [0xff, 0xd0, 0x80],
  [0x8c, 0xbf, 0xff],
  [0xe2, 0x9b, 0xf5],
  [0x7c, 0xdc, 0xe4],
  [0xff, 0xff, 0xff],
];

function indexed(number: number): Colour {
  const own = SIXTEEN[number];
  if (own !== undefined) return own;
  if (number >= 232) {
    const grey = 8 + 10 * (Math.min(number, 255) - 232);
    return [grey, grey, grey];
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  const at = number - 16;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}

/** Half way to the background, for dim text. */
export function dimmed(colour: Colour, background: Colour): Colour {
  const half = (at: 0 | 1 | 2) => Math.round((colour[at] + background[at]) / 2);
  return [half(0), half(1), half(2)];
}

/** Always a valid colour, whatever numbers a program printed. */
export function hex(colour: Colour): string {
  const byte = (value: number) => Math.min(255, Math.max(0, Math.trunc(value) || 0));
  return `#${colour.map((value) => byte(value).toString(16).padStart(2, '0')).join('')}`;
}
