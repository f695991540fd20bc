// How OpenCode is typed into, and how we see that a text arrived. A pasted text is never a shell command, and a leading blank, which
// threadmux adds, keeps "/" from being one; but three words end the program.

import { guardForPrompt } from '../../core/untrusted-text.ts';
import { beginsAlike, boxShows, endOfWords } from '../compare-box-text.ts';
import type { ScreenReader, TypingRules } from '../driver.ts';
import { readOpencodeScreen } from './screen.ts';

const ENDS_IT: ReadonlySet<string> = new Set(['exit', 'quit', ':q']);
/** The lower edge of the box. The dialogs for permissions and questions replace the box. */
const BOX = '╹▀▀▀▀▀▀▀▀▀▀';
/** A list that floats over the page has a title, and on the right the key that closes it. */
const LIST = '   esc(  |/enter| *$)';

export const opencodeTyping: TypingRules = {
  refuse: (text) =>
    ENDS_IT.has(text.trim()) ? 'OpenCode would exit. Use `!kill` to end the session, or write more words.' : undefined,
  guard: guardForPrompt,
  boxLines: () => [BOX],
  shownText: (text) => ({
    // It begins below the last line without an edge. By bytes, a line with another sign of this kind counts as one with an edge.
    from: '[^┃]*\\n',
    to: ` *${BOX}`,
    whole: '',
    parts: [...endOfWords(text), '[Pasted~'],
    late: true,
  }),
  onlyWhenIdle: false,
  // Never Ctrl-C: it ends OpenCode if the box is empty.
  interrupt: ['Escape', 'Escape'],
};

export const opencodeScreen: ScreenReader = {
  read: readOpencodeScreen,
  dialogLine: LIST,
  boxHolds: (screen, text) => boxShows(screen, text, PLACEHOLDER),
  timesShown,
};

/** OpenCode shows this instead of a text with many lines, and of a file. */
const PLACEHOLDER = /\[(?:Pasted~\d{1,6}lines|Image\d{1,3}|PDF\d{1,3}|SVG:[^\][]{0,300})\]/u;

/** A message of the user's has an edge on the left, and an empty line with the same edge above it. */
function timesShown(screen: string, text: string): number {
  const lines = screen.split('\n');
  const box = lines.findLastIndex((line) => line.includes(BOX));
  return lines.filter((line, at) => {
    const shown = /^ *┃ {2}(.*)$/u.exec(line)?.[1] ?? '';
    if (!/^ *┃ *$/u.test(lines[at - 1] ?? '')) return false;
    if (box >= 0 && at < box && lines.slice(at, box).every((one) => /^ *┃/u.test(one))) return false; // in the box
    return beginsAlike(shown, text, PLACEHOLDER);
  }).length;
}
