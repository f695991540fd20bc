// How a message is typed into Codex's box, and which texts are not. Pure.

import { guardForEnter } from '../../core/untrusted-text.ts';
import { parseAnsi } from '../claude/screen/box.ts';
import { beginsAlike, boxShows, endOfWords, visibleWords } from '../compare-box-text.ts';
import type { TypingRules } from '../driver.ts';
import type { AgentScreen, ShownText } from '../screen.ts';
import { findCodexBox } from './screen/screen.ts';

export const CODEX_TYPING: TypingRules = {
  refuse: refuseForCodex,
  guard: guardForCodex,
  boxLines: placeLine,
  shownText: endOfText,
  onlyWhenIdle: false, // a text joins the running turn after the next tool, and is reported then
  interrupt: ['Escape'],
};

/** A pasted `!` runs a command at once, also after blanks, and nothing reports it. What counts as a blank is for Codex to say. */
function refuseForCodex(text: string): string | undefined {
  if (/^[\s\p{C}]*!/u.test(text))
    return 'Codex would run a text that begins with `!` as a shell command, so it was not typed. Put a word before it.';
  return undefined;
}

/** With a blank before it, Codex does not look for a command. A name after "@" at the end would open the list of files. */
function guardForCodex(text: string): string {
  return (text.startsWith('/') ? ' ' : '') + guardForEnter(text);
}

/**
 * The line with the model and the folder below the box. A dialog takes its place, so a dialog that opens meanwhile gets nothing.
 * Other characters than letters and digits are left open, because they have a meaning in a pattern or may be drawn differently.
 */
function placeLine(screen: string): readonly string[] {
  const line = findCodexBox(parseAnsi(screen))?.footer[0]?.text ?? '  · ';
  const words = line.slice(0, 40).replace(/[^a-z0-9 ]+/giu, '.*');
  return [`^${words}`];
}

/** The end of the text, once it is in the box. */
function endOfText(text: string): ShownText | undefined {
  return { from: '›', to: '  [^ ].* · ', whole: '', parts: [...endOfWords(text), '[PastedContent'] };
}

/** Instead of a long text. */
const PLACEHOLDER = /\[PastedContent\d+chars\](?:#\d+)?/u;

export function codexBoxHolds(screen: AgentScreen, text: string): 'yes' | 'no' | 'maybe' {
  return boxShows(screen, text, PLACEHOLDER);
}

/** In the conversation, or in the queue above the box. */
export function codexTimesShown(screen: string, text: string): number {
  const rows = parseAnsi(screen);
  const box = findCodexBox(rows);
  return rows.filter(({ text: line }, at) => {
    const words = /^(?:›| {2}↳) (.*)$/u.exec(line)?.[1] ?? '';
    return at !== box?.top && visibleWords(words) !== '' && beginsAlike(words, text, PLACEHOLDER);
  }).length;
}
