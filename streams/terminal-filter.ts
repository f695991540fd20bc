// What of a program's output the emulator is given: whole escape sequences only, and no strings that show nothing (titles,
// the clipboard, pictures). Between two feeds the emulator is therefore always at rest, and can be set up again from its screen.

// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what this is about

/** A string that is left out: a title ends at a bell, too. */
export type Inside = 'nothing' | 'title' | 'string';

export interface Filtered {
  readonly inside: Inside;
  readonly feed: string;
  /** The beginning of a sequence whose end has not come yet: to be given again, with what comes next. */
  readonly rest: string;
}

/** No sequence that means anything is longer; a longer one is dropped. */
const LONGEST_SEQUENCE = 1024;

/** Controls act inside a sequence, too: they are part of it here. Those that end it (cancel, escape) are not. */
const WHOLE =
  /\x1b\[[\x00-\x17\x19\x1c-\x3f]*[\x40-\x7e]|\x1b(?!\[)[\x00-\x17\x19\x1c-\x2f]*[\x30-\x7e]/y;
const BEGUN = /\x1b(?:\[[\x00-\x17\x19\x1c-\x3f]*|[\x00-\x17\x19\x1c-\x2f]*)/y;
/** "k" is how a program in tmux names its window. */
const STRING = /\x1b([\]PX^_k])/y;

export function filterOutput(inside: Inside, text: string): Filtered {
  let feed = '';
  let at = 0;
  let now = inside;
  while (at < text.length) {
    if (now !== 'nothing') {
      const end = stringEnd(text, at, now);
      if (end === undefined)
        return { inside: now, feed, rest: text.endsWith('\x1b') ? '\x1b' : '' };
      now = 'nothing';
      at = end;
      continue;
    }
    const next = text.indexOf('\x1b', at);
    const start = next === -1 ? text.length : next;
    feed += withoutC1(text.slice(at, start));
    at = start;
    if (at === text.length) break;
    const opener = matchAt(STRING, text, at);
    if (opener !== undefined) {
      now = opener.endsWith(']') ? 'title' : 'string';
      at += opener.length;
      continue;
    }
    const whole = matchAt(WHOLE, text, at);
    const begun = matchAt(BEGUN, text, at) ?? '\x1b';
    if (whole === undefined && at + begun.length === text.length && begun.length < LONGEST_SEQUENCE)
      return { inside: now, feed, rest: begun };
    // Neither whole nor begun: cut short by something else. A terminal drops such a one.
    feed += whole ?? '';
    at += (whole ?? begun).length;
  }
  return { inside: now, feed, rest: '' };
}

/** An escape ends every string, whether or not it is the string terminator. */
function stringEnd(text: string, from: number, inside: Inside): number | undefined {
  const ends = inside === 'title' ? /[\x07\x18\x1a\x1b]/g : /[\x18\x1a\x1b]/g;
  ends.lastIndex = from;
  const found = ends.exec(text);
  if (found === null) return undefined;
  if (found[0] !== '\x1b') return found.index + 1;
  if (found.index + 1 === text.length) return undefined;
  return text[found.index + 1] === '\\' ? found.index + 2 : found.index;
}

/** tmux knows these as no controls; the emulator would. */
function withoutC1(text: string): string {
  return text.replace(/[\x80-\x9f]/g, '');
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
