// How large the cells of a picture are. Their sides are whole pixels, so that neighbours join without a seam.

import type { PictureSize } from './rows.ts';

export interface Grid {
  readonly width: number;
  readonly height: number;
  readonly margin: number;
  readonly fontSize: number;
  /** From the top of a cell: where its letters stand, and where the lines under and through them begin. */
  readonly baseline: number;
  readonly underline: number;
  readonly strike: number;
  readonly stroke: number;
}

/** Twice what a usual screen has. */
const LARGEST = 17;
/** Smaller letters cannot be read. */
const SMALLEST = 8;
/** What is drawn in well under a second and packed into well under a megabyte. */
const PIXELS = 3_000_000;

/** Of DejaVu Sans Mono, in its own units: a letter is as wide as a cell, a line as high as the font wants it. */
const EM = 2048;
const LETTER = 1233;
const ABOVE = 1901;
const BELOW = 483;

/** Undefined: too much for one picture. */
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
