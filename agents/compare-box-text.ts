// Compares a text that we typed with what a box shows of it. Only visible characters count: a box adds line breaks, and does not draw
// tabs or zero-width characters.

import type { AgentScreen } from './screen.ts';

/**
 * Whether the box contains exactly this text. `maybe`: it shows `placeholder` instead of a part, or only the end of a long text; or the
 * box cannot be seen. `placeholder` matches text without blanks.
 */
export function boxShows(screen: AgentScreen, text: string, placeholder: RegExp): 'yes' | 'no' | 'maybe' {
  switch (screen.kind) {
    case 'draft':
    case 'menu':
      return compare(screen.text, text, placeholder);
    case 'unknown':
    case 'transcript':
    case 'copyMode':
    case 'aside':
      return 'maybe';
    default:
      return 'no';
  }
}

/** Whether a line of the conversation shows the beginning of this text. */
export function beginsAlike(line: string, text: string, placeholder: RegExp): boolean {
  const [shown, wanted] = [visibleWords(line), visibleWords(text.trim().split('\n', 1)[0] ?? '')];
  if (shown === '') return false;
  return wanted.startsWith(shown) || shown.startsWith(wanted) || shown.search(placeholder) === 0;
}

/** Terminals draw or join these in different ways, and other spaces than those of ASCII. */
export const DRAWN_DIFFERENTLY = /[\p{C}\p{M}\p{Z}\p{Variation_Selector}\p{Emoji_Modifier}\p{Regional_Indicator}]/u;

/** A shorter text could also be a part of the hint. */
const SHORTEST_WORDS = 8;
const LONGEST_WORDS = 40;

/** The end of the text without blanks, as far as every terminal draws it alike; none if that is too short. */
export function endOfWords(text: string): readonly string[] {
  const points = [...text.replace(/\s+/gu, '')];
  const end = points.slice(points.findLastIndex((point) => DRAWN_DIFFERENTLY.test(point)) + 1).slice(-LONGEST_WORDS);
  return end.length < SHORTEST_WORDS ? [] : [end.join('')];
}

/** A box that shows fewer lines than this shows all of its text. */
const SCROLLS_FROM_LINES = 2;

function compare(shown: string, text: string, placeholder: RegExp): 'yes' | 'no' | 'maybe' {
  const [seen, wanted] = [visibleWords(shown), visibleWords(text)];
  if (seen === wanted) return 'yes';
  const parts = seen.split(placeholder);
  if (parts.length > 1 && isInOrder(parts, wanted)) return 'maybe';
  const scrolled = shown.split('\n').length >= SCROLLS_FROM_LINES;
  return scrolled && wanted.endsWith(seen) ? 'maybe' : 'no';
}

export function visibleWords(text: string): string {
  return text.replace(/\s|\p{Cf}|\p{Variation_Selector}/gu, '');
}

/** Whether `text` begins with the first part, ends with the last, and contains the others between them in order. */
function isInOrder(parts: readonly string[], text: string): boolean {
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === 0 ? (text.startsWith(part) ? 0 : -1) : text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  const last = parts.at(-1) ?? '';
  return text.endsWith(last) && text.length >= at;
}
