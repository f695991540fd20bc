// How OpenCode is typed into, and how we see that a text arrived. A pasted text is never a shell command, and a leading blank, which
// threadmux adds, keeps "/" from being one; but three words end the program.

import { guardForPrompt } from '../../core/untrusted-text.ts';
import type { ScreenReader, TypingRules } from '../driver.ts';
import type { AgentScreen } from '../screen.ts';
import { readOpencodeScreen } from './screen.ts';

const ENDS_IT: ReadonlySet<string> = new Set(['exit', 'quit', ':q']);
/** The lower edge of the box. The dialogs for permissions and questions replace the box. */
const BOX = '╹▀▀▀▀▀▀▀▀▀▀';
/** A list that floats over the page has a title, and on the right the key that closes it. */
const LIST = '   esc( |/enter|$)';

export const opencodeTyping: TypingRules = {
  refuse: (text) =>
    ENDS_IT.has(text.trim()) ? 'OpenCode would exit. Use `!kill` to end the session, or write more words.' : undefined,
  guard: guardForPrompt,
  boxLines: () => [BOX],
  // Every line of the box looks like a line of the conversation.
  shownText: () => undefined,
  onlyWhenIdle: false,
  // Never Ctrl-C: it ends OpenCode if the box is empty.
  interrupt: ['Escape', 'Escape'],
};

export const opencodeScreen: ScreenReader = {
  read: readOpencodeScreen,
  dialogLine: LIST,
  boxHolds,
  timesShown,
};

/** OpenCode shows this instead of a text with many lines, and of a file. */
const PLACEHOLDER = /\[(?:Pasted~\d+lines|Image\d+|PDF\d+|SVG:[^\][]{0,300})\]/u;
/** A box that shows fewer lines than this shows all of its text. */
const SCROLLS_FROM_LINES = 5;

function boxHolds(screen: AgentScreen, text: string): 'yes' | 'no' | 'maybe' {
  switch (screen.kind) {
    case 'draft':
    case 'menu':
      return compare(screen.text, text);
    case 'unknown':
    case 'copyMode':
    case 'aside':
    case 'subagent':
      return 'maybe';
    default:
      return 'no';
  }
}

function compare(shown: string, text: string): 'yes' | 'no' | 'maybe' {
  const [seen, wanted] = [squash(shown), squash(text)];
  if (seen === wanted) return 'yes';
  // Our text is pasted as a whole, so a placeholder stands for all of it.
  if (seen.replace(PLACEHOLDER, '') === '') return 'maybe';
  const scrolled = shown.split('\n').length >= SCROLLS_FROM_LINES;
  return scrolled && wanted.endsWith(seen) ? 'maybe' : 'no';
}

/** A message of the user's has an edge on the left, and an empty line with the same edge above it. */
function timesShown(screen: string, text: string): number {
  const wanted = squash(text.trim().split('\n', 1)[0] ?? '');
  const lines = screen.split('\n');
  const box = lines.findLastIndex((line) => line.includes(BOX));
  return lines.filter((line, at) => {
    const shown = squash(/^ *┃ {2}(.*)$/u.exec(line)?.[1] ?? '');
    if (shown === '' || wanted === '' || !/^ *┃ *$/u.test(lines[at - 1] ?? '')) return false;
    if (box >= 0 && at < box && lines.slice(at, box).every((one) => /^ *┃/u.test(one))) return false; // in the box
    return wanted.startsWith(shown) || shown.startsWith(wanted);
  }).length;
}

/** The box adds line breaks and does not draw tabs or zero-width characters, so only visible characters are compared. */
function squash(text: string): string {
  return text.replace(/\s|\p{Cf}|\p{Variation_Selector}/gu, '');
}
