// Tells whether a text that we typed is still in the box, or was submitted.

import type { AgentScreen } from '../../screen.ts';

/**
 * Whether the box contains exactly this text. `maybe`: the box shows a placeholder for pasted text or only the end of a long
 * text, and the visible part matches; or the box is not visible.
 */
export function boxHolds(screen: AgentScreen, text: string): 'yes' | 'no' | 'maybe' {
  switch (screen.kind) {
    case 'draft':
    case 'menu':
      return compare(screen.text, text);
    case 'unknown':
    case 'transcript':
    case 'copyMode':
    case 'aside':
      return 'maybe';
    default:
      return 'no';
  }
}

/** How often the screen shows this text as submitted, in the conversation or in the queue above the box. */
export function timesShown(screen: string, text: string): number {
  const wanted = squash(text.trim().split('\n', 1)[0] ?? '');
  const lines = screen.split('\n');
  return lines.filter((line, at) => {
    const shown = squash(/^ {0,2}❯[ \u00a0](.*)$/u.exec(line)?.[1] ?? '').replace(IMAGES, '');
    if (shown === '' || lines[at - 1]?.startsWith('─')) return false; // an empty line, or the box itself
    return wanted.startsWith(shown) || shown.startsWith(wanted) || /^\[Pastedtext#/u.test(shown);
  }).length;
}

const PLACEHOLDER = /\[Pastedtext#\d+(?:\+\d+lines)?\]/u;
const IMAGES = /\[Image#\d+\]/gu;
/** A box that shows fewer lines than this shows all of its text. */
const SCROLLS_FROM_LINES = 2;

function compare(shown: string, text: string): 'yes' | 'no' | 'maybe' {
  const [seen, wanted] = [squash(shown), squash(text)];
  if (seen === wanted) return 'yes';
  // The box shows a placeholder instead of the path of an image.
  const words = seen.replace(IMAGES, '');
  if (words !== seen && wanted.startsWith(words)) return 'maybe';
  const parts = seen.split(PLACEHOLDER);
  if (parts.length > 1 && inOrder(parts, wanted)) return 'maybe';
  const scrolled = shown.split('\n').length >= SCROLLS_FROM_LINES;
  return scrolled && wanted.endsWith(seen) ? 'maybe' : 'no';
}

/** The box adds line breaks and does not draw tabs or zero-width characters, so only visible characters are compared. */
function squash(text: string): string {
  return text.replace(/\s|\p{Cf}|\p{Variation_Selector}/gu, '');
}

/** Whether `text` begins with the first part, ends with the last, and contains the others between them in order. */
function inOrder(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.endsWith(last) && text.length - last.length >= at;
}
