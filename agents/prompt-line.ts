// Recognises the prompt of a program that is not an agent: the cursor waits on the last line. What stands above it may be anything, also the
// words of a dialog: a command after a "❯", a list of files, a log of an agent.

import type { PaneView } from './screen-fingerprint.ts';

/** A field with a frame, or an option with words of one's own. A small pane may cut off what an agent shows below them. */
const IN_DIALOG = /^ *(?:[│┃]|(?:[❯›●] *)?\d+\. )/u;

/** No dialog of an agent has a visible cursor in its last line, except in the first column. */
export function isAtPrompt({ cursor, cursorShown, text }: Pick<PaneView, 'cursor' | 'cursorShown' | 'text'>): boolean {
  const { at, line } = lastLine(text);
  return cursorShown === true && cursor.y === at && cursor.x > 0 && !IN_DIALOG.test(line);
}

/** A program prints, or reads without a prompt. Some agents may have their cursor there, too. */
export function isBelowAll({ cursor, cursorShown, text }: Pick<PaneView, 'cursor' | 'cursorShown' | 'text'>): boolean {
  return cursorShown === true && cursor.y > lastLine(text).at;
}

function lastLine(text: string): { readonly at: number; readonly line: string } {
  const lines = text.split('\n');
  const at = lines.findLastIndex((line) => line.trim() !== '');
  return { at, line: lines[at] ?? '' };
}
