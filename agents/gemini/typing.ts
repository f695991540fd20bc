// How a message is typed into the box of Gemini CLI, and how we see that it arrived. Pure. A pasted "!" is text.

import { guardForEnter } from '../../core/untrusted-text.ts';
import { parseAnsi } from '../claude/screen/box.ts';
import { beginsAlike, boxShows, endOfWords, visibleWords } from '../compare-box-text.ts';
import type { ScreenReader, TypingRules } from '../driver.ts';
import type { AgentScreen } from '../screen.ts';
import { findGeminiBox, readGeminiScreen } from './screen/screen.ts';

export const geminiTyping: TypingRules = {
  refuse: () => undefined,
  guard: guardForGemini,
  boxLines: linesAtBox,
  shownText: (text) => ({
    from: ' [>*] ',
    to: '▀▀▀▀',
    whole: '',
    parts: [...endOfWords(text), '[PastedText:'],
    late: true, // Gemini CLI does not count an Enter that follows the text at once
  }),
  onlyWhenIdle: true,
  interrupt: ['Escape'],
};

/** It runs commands after blanks and zero-width spaces, too, but not after a word joiner. */
const WORD_JOINER = '\u2060';

function guardForGemini(text: string): string {
  return (/^\s*\//u.test(text) ? WORD_JOINER : '') + guardForEnter(text);
}

/** No dialog leaves a line like this on the screen; it is never in the conversation. */
const NEVER = '^threadmux: no box$';

/**
 * The line with the mode above the box, and the one below it. Both are gone while a dialog is open, so that a text never reaches it.
 * Only letters and digits count: other characters have a meaning in a pattern, or may be drawn differently.
 */
function linesAtBox(screen: string): readonly string[] {
  const rows = parseAnsi(screen);
  const box = findGeminiBox(rows);
  if (box === undefined) return [NEVER];
  const lines = [rows[box.top - 1]?.text, box.below[0]?.text].filter((line) => line !== undefined && line !== '');
  return lines.map((line = '') => `^${line.slice(0, 40).replace(/[^a-z0-9 ]+/giu, '.*')}`);
}

export const geminiScreen: ScreenReader = {
  read: readGeminiScreen,
  boxHolds: (screen: AgentScreen, text: string) => boxShows(screen, text, PLACEHOLDER),
  timesShown,
};

/** Instead of a long text. */
const PLACEHOLDER = /\[PastedText:\d+(?:chars|lines)\](?:#\d+)?/u;

/** In the conversation, or in the queue above the box. */
function timesShown(screen: string, text: string): number {
  const rows = parseAnsi(screen);
  const box = findGeminiBox(rows);
  const queue = rows.findLastIndex((row) => row.text.startsWith('  Queued (press'));
  return rows.filter(({ text: line }, at) => {
    if (box !== undefined && at > box.top) return false;
    const words =
      /^ > (.*)$/u.exec(line)?.[1] ?? (queue >= 0 && at > queue ? (/^ {4}(\S.*)$/u.exec(line)?.[1] ?? '') : '');
    return visibleWords(words) !== '' && beginsAlike(words, text, PLACEHOLDER);
  }).length;
}
