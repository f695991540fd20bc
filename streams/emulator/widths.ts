// How many columns a character takes, as tmux counts: a terminal that counts otherwise breaks lines elsewhere.

import type { IUnicodeVersionProvider } from '@xterm/headless';
import { displayWidth } from '../../core/tables.ts';

const known = new Map<number, 0 | 1 | 2>();
const KNOWN_AT_MOST = 20_000;

export const terminalWidths: IUnicodeVersionProvider = {
  version: 'threadmux',
  wcwidth: columnsOf,
  /** A character without a width joins the one before. Packed as the emulator wants it: width and whether it joins. */
  charProperties(codepoint, preceding) {
    const own = columnsOf(codepoint);
    const before = ((preceding >> 1) & 3) as 0 | 1 | 2;
    const joins = own === 0 && preceding !== 0 && before > 0;
    return ((joins ? before : own) << 1) | (joins ? 1 : 0);
  },
};

export function columnsOf(codepoint: number): 0 | 1 | 2 {
  if (codepoint < 0x20 || (codepoint >= 0x7f && codepoint < 0xa0)) return 0;
  if (codepoint < 0x300) return 1;
  const found = known.get(codepoint);
  if (found !== undefined) return found;
  if (known.size > KNOWN_AT_MOST) known.clear();
  const width = measured(codepoint);
  known.set(codepoint, width);
  return width;
}

function measured(codepoint: number): 0 | 1 | 2 {
  if (codepoint >= 0x1160 && codepoint <= 0x11ff) return 0; // vowels and finals join a syllable's first sign
  if (codepoint >= 0xd800 && codepoint <= 0xdfff) return 1;
  return displayWidth(String.fromCodePoint(codepoint)) as 0 | 1 | 2;
}
