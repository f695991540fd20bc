// Characters that we draw ourselves: blocks, so that there are no gaps between cells, and characters that the font lacks but
// that have a substitute. Shapes are in fractions of a cell, from its upper left corner.

import type { Colour } from './rows.ts';

export type Shape =
  | Box
  | { readonly kind: 'dot'; readonly x: number; readonly y: number }
  | { readonly kind: 'area'; readonly points: readonly (readonly [x: number, y: number])[] };

interface Box {
  readonly kind: 'box';
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly opacity?: number;
}

/** Undefined: drawn with the font. */
export function shapesOf(text: string): readonly Shape[] | undefined {
  const code = text.codePointAt(0) ?? 0;
  if (code >= 0x2580 && code <= 0x259f) return blocks(code);
  if (code >= 0x2800 && code <= 0x28ff) return braille(code);
  return SHAPES[text];
}

function blocks(code: number): readonly Shape[] {
  const eighths = (code - 0x2580) / 8;
  if (code === 0x2580) return [box(0, 0, 1, 0.5)];
  if (code <= 0x2588) return [box(0, 1 - eighths, 1, 1)];
  if (code <= 0x258f) return [box(0, 0, 2 - eighths, 1)];
  if (code === 0x2590) return [box(0.5, 0, 1, 1)];
  if (code <= 0x2593) return [{ ...box(0, 0, 1, 1), opacity: (code - 0x2590) / 4 }];
  if (code === 0x2594) return [box(0, 0, 1, 1 / 8)];
  if (code === 0x2595) return [box(7 / 8, 0, 1, 1)];
  return [...(QUADRANTS[code - 0x2596] ?? '')].map((at) => {
    const [x, y] = [(Number(at) % 2) / 2, Math.floor(Number(at) / 2) / 2];
    return box(x, y, x + 0.5, y + 0.5);
  });
}

/** Upper left 0, upper right 1, lower left 2, lower right 3; from U+2596 on. */
const QUADRANTS = ['2', '3', '0', '023', '03', '012', '013', '1', '12', '123'];

function braille(code: number): readonly Shape[] {
  return DOTS.flatMap(([x, y], bit): Shape[] =>
    (code & (1 << bit)) === 0 ? [] : [{ kind: 'dot', x: 0.3 + 0.4 * x, y: 0.2 + 0.2 * y }],
  );
}

/** Column and row of the dots, in the order of their bits. */
const DOTS = [
  [0, 0],
  [0, 1],
  [0, 2],
  [1, 0],
  [1, 1],
  [1, 2],
  [0, 3],
  [1, 3],
] as const;

function box(left: number, top: number, right: number, bottom: number): Box {
  return { kind: 'box', left, top, right, bottom };
}

function area(...points: readonly (readonly [number, number])[]): Shape {
  return { kind: 'area', points };
}

const SHAPES: Readonly<Record<string, readonly Shape[]>> = {
  '⏸': [box(0.16, 0.3, 0.4, 0.74), box(0.6, 0.3, 0.84, 0.74)],
  '⎿': [box(0.3, 0, 0.43, 0.63), box(0.3, 0.57, 0.96, 0.63)],
  // The slanted ends of coloured segments in a shell prompt.
  '\ue0b0': [area([0, 0], [1, 0.5], [0, 1])],
  '\ue0b2': [area([1, 0], [0, 0.5], [1, 1])],
};

interface StandIn {
  readonly text: string;
  readonly fg?: Colour;
}

const GREEN: Colour = [0x7f, 0xc0, 0x6e];
const RED: Colour = [0xe0, 0x6c, 0x75];
const YELLOW: Colour = [0xff, 0xd0, 0x80];
const BLUE: Colour = [0x61, 0x9f, 0xef];

/** What is drawn instead of a character that the font lacks; undefined for the character itself. */
export function standIn(text: string): StandIn | undefined {
  const known = STAND_INS[text.replace('\ufe0f', '')];
  if (known !== undefined) return known;
  // The icons of patched fonts mean nothing elsewhere, not even as text.
  return SHAPES[text] === undefined && /^[\ue000-\uf8ff\u{f0000}-\u{10fffd}]/u.test(text) ? { text: '▪' } : undefined;
}

const STAND_INS: Readonly<Record<string, StandIn>> = {
  '⏺': { text: '●' },
  '⏵': { text: '▶' },
  '⏴': { text: '◀' },
  '⏶': { text: '▲' },
  '⏷': { text: '▼' },
  '⏹': { text: '■' },
  '⧉': { text: '❐' },
  ℹ: { text: 'i' },
  '⛀': { text: '◎' },
  '⛁': { text: '◉' },
  '⛶': { text: '▢' },
  '⛝': { text: '☒' },
  '☰': { text: '≡' },
  '⟳': { text: '↻' },
  '⬢': { text: '◆' },
  '⬡': { text: '◇' },
  '✅': { text: '✔', fg: GREEN },
  '❌': { text: '✘', fg: RED },
  '⭐': { text: '★', fg: YELLOW },
  '✨': { text: '✦', fg: YELLOW },
  '❗': { text: '!', fg: RED },
  '❓': { text: '?', fg: RED },
  '🟢': { text: '●', fg: GREEN },
  '🔴': { text: '●', fg: RED },
  '🟡': { text: '●', fg: YELLOW },
  '🔵': { text: '●', fg: BLUE },
  '\ue0b1': { text: '›' },
  '\ue0b3': { text: '‹' },
};
