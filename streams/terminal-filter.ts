// What of a program's output the emulator is given: whole escape sequences only, and no strings that show nothing (titles,
// the clipboard, pictures). Between two feeds the emulator is therefore always at rest, and can be set up again from its screen.

// biome-ignore-all lint/suspicious/noControlCharactersInRegex: they are what this is about

/** Inside a string that is left out; "escape" has seen what may be the first half of its end. */
export type Inside = 'nothing' | 'title' | 'string';

export interface Filtered {
  readonly inside: Inside;
  readonly feed: string;
  /** The beginning of a sequence whose end has not come yet: to be given again, with what comes next. */
  readonly rest: string;
}

/** No sequence that means anything is longer; a longer one is given up as it is. */
const LONGEST_SEQUENCE = 1024;

/** C0 controls act inside a sequence, too: they are part of it here. */
const SEQUENCE =
  /(?:\x1b\[|\x9b)[\x00-\x17\x19\x1c-\x3f]*[\x40-\x7e]|\x1b(?!\[)[\x00-\x17\x19\x1c-\x2f]*[\x30-\x7e]/y;
const BEGUN = /(?:\x1b\[|\x9b)[\x00-\x17\x19\x1c-\x3f]*$|\x1b[\x00-\x17\x19\x1c-\x2f]*$/y;
const OPENS = /[\x1b\x90\x98\x9b\x9d-\x9f]/g;

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
    OPENS.lastIndex = at;
    const start = OPENS.exec(text)?.index ?? text.length;
    feed += text.slice(at, start);
    at = start;
    if (at === text.length) break;
    const opened = stringOpened(text, at);
    if (opened !== undefined) {
      now = opened.inside;
      at += opened.length;
      continue;
    }
    SEQUENCE.lastIndex = at;
    BEGUN.lastIndex = at;
    const whole = SEQUENCE.exec(text)?.[0];
    if (whole === undefined && BEGUN.test(text) && text.length - at <= LONGEST_SEQUENCE)
      return { inside: now, feed, rest: text.slice(at) };
    // Neither whole nor begun: cut short by something else. The emulator drops such a one, and so do we.
    feed += whole ?? '';
    at += whole?.length ?? brokenLength(text, at);
  }
  return { inside: now, feed, rest: '' };
}

function stringOpened(text: string, at: number): { inside: Inside; length: number } | undefined {
  const [, opener] = /^(\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])/.exec(text.slice(at, at + 2)) ?? [];
  if (opener === undefined) return undefined;
  return { inside: /[\]\x9d]/.test(opener) ? 'title' : 'string', length: opener.length };
}

/** A bell ends a title. An escape ends every string, whether or not it is the string terminator. */
function stringEnd(text: string, from: number, inside: Inside): number | undefined {
  const ends = inside === 'title' ? /[\x07\x18\x1a\x1b\x9c]/g : /[\x18\x1a\x1b\x9c]/g;
  ends.lastIndex = from;
  const found = ends.exec(text);
  if (found === null) return undefined;
  if (found[0] !== '\x1b') return found.index + 1;
  if (found.index + 1 === text.length) return undefined;
  return text[found.index + 1] === '\\' ? found.index + 2 : found.index;
}

function brokenLength(text: string, at: number): number {
  const [broken = '\x1b'] =
    /^(?:\x1b\[|\x9b)[\x00-\x17\x19\x1c-\x3f]*|^\x1b[\x00-\x17\x19\x1c-\x2f]*/.exec(
      text.slice(at, at + 2 * LONGEST_SEQUENCE),
    ) ?? [];
  return broken.length;
}
