// How a text is typed into Claude Code's box: what the box shows once it has taken it, and whether it is still there or was submitted. Pure.

import { beginsAlike, boxShows, DRAWN_DIFFERENTLY, visibleWords } from '../compare-box-text.ts';
import type { AgentScreen, ShownText } from '../screen.ts';

/**
 * The first line of the box, as a regular expression for tmux. No dialog has such a line: with this rule, a dialog that opens just
 * before Enter is not answered by it.
 */
const BOX = '^❯\u00a0';
const BOX_LINE = new RegExp(BOX, 'm');
/** Rows of the pane that a box never uses. */
const OTHER_ROWS = 8;

/** The lines that the screen must show while the text is typed. None if the text may push the first line of the box off the screen. */
export function boxWhileTyping(
  screen: string,
  text: string,
  { width, height }: { readonly width: number; readonly height: number },
): readonly string[] {
  const room = Math.max(1, width - 4);
  const rows = text.split('\n').reduce((sum, line) => sum + Math.ceil((2 * line.length + 1) / room), 0);
  return BOX_LINE.test(screen) && rows <= height - OTHER_ROWS ? [BOX] : [];
}

/** A longer text may be wider than the pane or scrolled: then only its end is looked for. */
const WHOLE = 60;
const TAIL = 40;
/** A shorter end could also be a part of a hint in an empty box. */
const SHORTEST_TAIL = 8;
/** Claude Code shows these instead of a long text and of images. */
const PLACEHOLDERS = ['[Pastedtext#', '[Image#'] as const;

export function shownText(text: string): ShownText {
  const points = [...text.replace(/[ \t\n]+/g, '')];
  // A no-break space at the end, as after a slash command, stays one.
  const isSure =
    points.length <= WHOLE && !points.some((point, at) => DRAWN_DIFFERENTLY.test(point) && !isLastSpace(points, at));
  const tail = isSure ? '' : tailOf(points);
  return {
    from: '❯\u00a0',
    to: '─',
    whole: isSure ? points.join('') : '',
    parts: [...(tail === '' ? [] : [tail]), ...PLACEHOLDERS],
  };
}

function isLastSpace(points: readonly string[], at: number): boolean {
  return points[at] === '\u00a0' && at === points.length - 1;
}

/** The last run of characters that every terminal draws alike; empty if there is none near the end. */
function tailOf(points: readonly string[]): string {
  const end = points.slice(-2 * TAIL);
  for (let to = end.length; to > 0; ) {
    const from = end.slice(0, to).findLastIndex((point) => DRAWN_DIFFERENTLY.test(point)) + 1;
    if (to - from >= SHORTEST_TAIL) return end.slice(Math.max(from, to - TAIL), to).join('');
    to = from - 1;
  }
  return '';
}

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
