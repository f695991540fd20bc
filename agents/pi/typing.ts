// How pi is typed into, and how we see that a text arrived. pi trims a text before it looks at its first character, so a blank does not
// keep "!" and "/" from being a command.

import { guardForEnter } from '../../core/untrusted-text.ts';
import { beginsAlike, boxShows, endOfWords } from '../compare-box-text.ts';
import type { ScreenReader, TypingRules } from '../driver.ts';
import { readPiScreen } from './screen.ts';

export const piTyping: TypingRules = {
  refuse(text) {
    if (/^\s*!/u.test(text))
      return 'pi would run a text that begins with `!` as a shell command, so it was not typed. Put a word before it.';
    // A path is no command: "/usr/bin is full".
    if (/^\s*\/[^\s/]*(?:\s|$)/u.test(text))
      return 'pi would run a text that begins with `/` as a command, so it was not typed. Put a word before it.';
    return undefined;
  },
  guard: guardForEnter,
  // Dialogs lie between the same rules, so no line tells the box.
  boxLines: () => [],
  shownText: (text) => ({ from: '───', to: '───', whole: '', parts: [...endOfWords(text), '[paste#'], late: true }),
  onlyWhenIdle: false,
  interrupt: ['Escape'],
};

/** pi shows this instead of a long text. */
const PLACEHOLDER = /\[paste#\d{1,6}(?:\+\d{1,6}lines|\d{1,9}chars)?\]/u;

export const piScreen: ScreenReader = {
  read: readPiScreen,
  dialogLine: '^ *→ |escape/ctrl.c cancel',
  boxHolds: (screen, text) => boxShows(screen, text, PLACEHOLDER),
  // A message of the user's has no mark of its own.
  timesShown: (screen, text) =>
    screen.split('\n').filter((line) => /^ \S/u.test(line) && beginsAlike(line, text, PLACEHOLDER)).length,
};
