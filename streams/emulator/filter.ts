// Filters a program's output for the emulator: only complete escape sequences, with numbers limited to what the screen needs,
// and no strings that show nothing (titles, the clipboard, pictures). So the emulator is never inside a sequence between two
// feeds. What it costs is not decided here: emulator-process.ts limits its time and memory.

// biome-ignore-all lint/suspicious/noControlCharactersInRegex: this file is about control characters

import type { IUnicodeVersionProvider } from '@xterm/headless';
import { displayWidth } from '../../core/markdown-tables.ts';
import type { EmulatorSize, Snapshot } from './snapshot.ts';

type FilterMode = Snapshot['inside'];
export type FilterState = Pick<Snapshot, 'inside' | 'marks'>;

interface FilteredOutput extends FilterState {
  readonly feed: string;
  /** The beginning of an incomplete sequence: pass it again before the next output. */
  readonly rest: string;
}

/** No meaningful sequence is longer; a longer one is dropped. */
const LONGEST_SEQUENCE = 1024;
/** tmux has no larger window, and modes and colours have smaller numbers. */
export const LARGEST_NUMBER = 10_000;
/** More marks on one character mean nothing, and the emulator would store them all. */
export const MOST_MARKS = 16;

/** Control characters also act inside a sequence, even between its first two bytes. Cancel and escape end it instead. */
const CONTROLS = /[\x00-\x17\x19\x1c-\x1f]/g;
const WHOLE =
  /\x1b[\x00-\x17\x19\x1c-\x1f]*(?:\[[\x00-\x17\x19\x1c-\x3f]*[\x40-\x7e]|[\x30-\x5a\x5c-\x7e]|[\x20-\x2f][\x00-\x17\x19\x1c-\x2f]*[\x30-\x7e])/y;
const BEGUN = /\x1b[\x00-\x17\x19\x1c-\x1f]*(?:\[[\x00-\x17\x19\x1c-\x3f]*|[\x20-\x2f][\x00-\x17\x19\x1c-\x2f]*)?/y;
/** "k": a program in tmux names its window. */
const STRING = /\x1b[\x00-\x17\x19\x1c-\x1f]*[\]PX^_k]/y;

export function filterOutput(before: FilterState, text: string, size: EmulatorSize): FilteredOutput {
  let { inside, marks } = before;
  let feed = '';
  let at = 0;
  while (at < text.length) {
    if (inside !== 'nothing') {
      const end = endOf(inside, text, at);
      if (end === undefined) return { inside, marks, feed, rest: unfinished(inside, text) };
      inside = 'nothing';
      at = end;
      continue;
    }
    const next = text.indexOf('\x1b', at);
    const start = next === -1 ? text.length : next;
    const plain = fewMarks(withoutC1(text.slice(at, start)), marks);
    feed += plain.text;
    marks = plain.marks;
    at = start;
    if (at === text.length) break;
    const begun = matchAt(BEGUN, text, at) ?? '\x1b';
    const opener = matchAt(STRING, text, at);
    if (Math.max(begun.length, opener?.length ?? 0) >= LONGEST_SEQUENCE) {
      inside = 'sequence';
      at += LONGEST_SEQUENCE;
      continue;
    }
    if (opener !== undefined) {
      inside = opener.endsWith(']') ? 'title' : 'string';
      at += opener.length;
      continue;
    }
    const whole = matchAt(WHOLE, text, at);
    if (whole === undefined && at + begun.length === text.length) return { inside, marks, feed, rest: begun };
    // Neither complete nor begun: interrupted by something else. A terminal drops such a sequence.
    if (whole !== undefined) feed += clamped(whole, size);
    at += (whole ?? begun).length;
  }
  return { inside, marks, feed, rest: '' };
}

/** Sequences that repeat something, and the side of the screen beyond which repeating changes nothing. */
const REPEATS: Readonly<Record<string, keyof EmulatorSize>> = {
  b: 'width',
  I: 'width',
  Z: 'width',
  L: 'height',
  M: 'height',
  S: 'height',
  T: 'height',
  '^': 'height',
};

/** Controls inside a sequence act before it: they are moved to the front, so that they split no number. */
function clamped(whole: string, size: EmulatorSize): string {
  const bare = whole.replace(CONTROLS, '');
  const controls = bare.length === whole.length ? '' : (whole.match(CONTROLS) ?? []).join('');
  if (bare[1] !== '[') return controls + bare;
  const side = REPEATS[bare.at(-1) ?? ''];
  const most = side === undefined ? LARGEST_NUMBER : size[side];
  return controls + bare.replace(/\d+/g, (number) => String(Math.min(Number(number), most)));
}

function fewMarks(text: string, before: number): { text: string; marks: number } {
  if (!/[^\x00-\u02ff]/.test(text)) return { text, marks: SHOWN.test(text) ? 0 : before };
  let kept = '';
  let marks = before;
  for (const character of text) {
    if (columnsOf(character.codePointAt(0) ?? 0) > 0) marks = 0;
    else if (character > '\u02ff' && ++marks > MOST_MARKS) continue;
    kept += character;
  }
  return { text: kept, marks: Math.min(marks, MOST_MARKS) };
}

const SHOWN = /[^\x00-\x1f\x7f]/;

/** The position after what is dropped; undefined if it continues. */
function endOf(inside: Exclude<FilterMode, 'nothing'>, text: string, from: number): number | undefined {
  const ends = ENDS[inside];
  ends.lastIndex = from;
  const found = ends.exec(text);
  if (found === null) return undefined;
  if (inside === 'sequence' && /[^\x18\x1a\x40-\x7e]/.test(found[0])) return found.index;
  if (found[0] !== '\x1b') return found.index + 1;
  // An escape ends every string, even if it does not begin the string terminator.
  if (found.index + 1 === text.length) return undefined;
  return text[found.index + 1] === '\\' ? found.index + 2 : found.index;
}

const ENDS = {
  title: /[\x07\x18\x1a\x1b]/g,
  string: /[\x18\x1a\x1b]/g,
  sequence: /[^\x00-\x17\x19\x1c-\x3f]/g,
} as const;

function unfinished(inside: FilterMode, text: string): string {
  return inside !== 'sequence' && text.endsWith('\x1b') ? '\x1b' : '';
}

/** Not controls in tmux, but in the emulator. */
function withoutC1(text: string): string {
  return text.replace(/[\x80-\x9f]/g, '');
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

// How many columns a character takes, as tmux counts: with another width, lines would break elsewhere than in tmux.
const known = new Map<number, 0 | 1 | 2>();
const KNOWN_AT_MOST = 20_000;

const DROPPED = 8; // a bit of our own in the properties of a character

/** `dropsWide`: whether the terminal would drop a wide character now, because it has no room and must not wrap. */
export const terminalWidths = (dropsWide: () => boolean): IUnicodeVersionProvider => ({
  version: 'threadmux',
  wcwidth: columnsOf,
  /** A zero-width character joins the one before. The result is packed as the emulator expects: width and whether it joins. */
  charProperties(codepoint, preceding) {
    const own = columnsOf(codepoint);
    // The marks of a dropped character are dropped, too: they would gather, without limit, on the one that is left of it.
    if (own === 0 && (preceding & DROPPED) !== 0) return preceding;
    if (own === 2 && dropsWide()) return (own << 1) | DROPPED;
    const before = (preceding >> 1) & 3;
    return own === 0 && before > 0 ? (before << 1) | 1 : own << 1;
  },
});

function columnsOf(codepoint: number): 0 | 1 | 2 {
  if (codepoint < 0x20 || (codepoint >= 0x7f && codepoint < 0xa0)) return 0;
  if (codepoint < 0x300) return 1;
  const found = known.get(codepoint);
  if (found !== undefined) return found;
  if (known.size > KNOWN_AT_MOST) known.clear();
  const width = measured(codepoint);
  known.set(codepoint, width);
  return width;
}

function measured(codepoint: number): 0 | 1 | 2 {
  if (codepoint >= 0x1160 && codepoint <= 0x11ff) return 0; // Hangul vowels and finals join the first letter of a syllable
  if (codepoint >= 0xd800 && codepoint <= 0xdfff) return 1;
  return displayWidth(String.fromCodePoint(codepoint)) as 0 | 1 | 2;
}
