// How much work an escape sequence can make for the emulator, counted in cells that it may touch. A sequence that is not known
// to be cheap counts as one that writes the whole screen: no sequence is forgotten.

import type { EmulatorSize } from '../emulator/size.ts';

export interface CostScreen extends EmulatorSize {
  /** A character that is printed may push the rest of its row to the right. */
  readonly inserts: boolean;
}

/** A byte of output pays for so many cells. Ordinary programs need far less, since they print what they draw. */
export const CELLS_PER_BYTE = 250;
/** So many may be used beyond that within one second, for programs that draw much with few bytes. */
export const SPARE_CELLS = 10_000_000;

/** Without the escape: the cursor, colours, margins, tabs, questions to the terminal, modes other than private ones. */
const CHEAP = /^(?:\[[<-?]?[\d;:]*(?:[A-IZac-gmnq-u`]|[ !"$]+[pq])|\[[\d;:]*[hl]|[78=>HNOno|}~\\]|[ %(-/]+.)$/;
const ONE_ROW = /^\[\??[\d;:]*[KX@P]$/;
const SCROLLS = /^(?:\[[\d;:]*[LMST^]|[DEM])$/;
const REPEATS = /^\[[\d;:]*b$/;
const PRIVATE_MODES = /^\[\?[\d;:]*[hl]$/;
/** Keys, cursor, wrapping, mouse, paste, updates in one go. Any other mode may change to another screen. */
const CHEAP_MODES = /^(?:|[15679]|12|25|45|66|100[0-6]|101[56]|1048|2004|2026|2031)$/;

/** `sequence` is whole and has no controls inside; its numbers are within their limits. */
export function cellsOf(sequence: string, { width, height, inserts }: CostScreen): number {
  const body = sequence.slice(1);
  const numbers = body.match(/\d+/g) ?? [];
  const times = Math.max(1, ...numbers.map(Number));
  if (CHEAP.test(body)) return 0;
  if (ONE_ROW.test(body)) return width;
  if (SCROLLS.test(body)) return times * (width + 4 * height);
  if (REPEATS.test(body)) return times * (inserts ? width : 32);
  if (!PRIVATE_MODES.test(body)) return width * height;
  return numbers.filter((mode) => !CHEAP_MODES.test(mode)).length * width * height;
}

/** From here on, what is printed pushes the rest of its row to the right. */
export function startsInserting(sequence: string): boolean {
  return sequence.endsWith('h') && (sequence.match(/\d+/g) ?? []).some((mode) => Number(mode) === 4);
}
