// Tells whether a text that we typed is still in the box, or was submitted.

import { beginsAlike, boxShows, visibleWords } from '../../compare-box-text.ts';
import type { AgentScreen } from '../../screen.ts';

export function boxHolds(screen: AgentScreen, text: string): 'yes' | 'no' | 'maybe' {
  const answer = boxShows(screen, text, PLACEHOLDER);
  if (answer !== 'no' || (screen.kind !== 'draft' && screen.kind !== 'menu')) return answer;
  // The box shows a placeholder instead of the path of an image.
  const seen = visibleWords(screen.text);
  const words = seen.replace(IMAGES, '');
  return words !== seen && visibleWords(text).startsWith(words) ? 'maybe' : 'no';
}

/** How often the screen shows this text as submitted, in the conversation or in the queue above the box. */
export function timesShown(screen: string, text: string): number {
  const lines = screen.split('\n');
  return lines.filter((line, at) => {
    if (lines[at - 1]?.startsWith('─')) return false; // the box itself
    const shown = visibleWords(/^ {0,2}❯[ \u00a0](.*)$/u.exec(line)?.[1] ?? '').replace(IMAGES, '');
    return beginsAlike(shown, text, /^\[Pastedtext#/u);
  }).length;
}

const PLACEHOLDER = /\[Pastedtext#\d+(?:\+\d+lines)?\]/u;
const IMAGES = /\[Image#\d+\]/gu;
