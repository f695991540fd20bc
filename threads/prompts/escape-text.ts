// Words of others inside our own lines: nothing in them is Markdown, a mention or invisible, and
// none is ever longer than the room it has.

import { neutralise, spelledOut } from '../../core/untrusted-text.ts';

/** In one line, with everything in it visible. Of a long text only as much as may be needed for this room is looked at. */
export function visible(text: string, room = Number.POSITIVE_INFINITY): string {
  const part = text.slice(0, neededFor(room));
  const shown = neutralise(part).replace(/\s+/g, ' ').trim();
  return part.length === text.length ? shown : `${shown}…`;
}

/** Blanks that are left out need some more. */
function neededFor(room: number): number {
  return 4 * room + 200;
}

/** Shown letter by letter. */
export function escapeText(text: string, room = Number.POSITIVE_INFINITY): string {
  let shown = '';
  for (const point of visible(text, room)) {
    const next = /[\\*_~`|>#[\]<@]/.test(point) ? `\\${point}` : point;
    if (shown.length + next.length >= room) return `${shown}…`;
    shown += next;
  }
  return shown;
}

/** Whether `plain` shows all of it in this room. */
export function fitsPlain(text: string, room: number): boolean {
  return text.length <= neededFor(room) && escapeText(text, room) === escapeText(text);
}

/** Exact: a backtick would end it, and a line break or a tab would look like a space, so they are spelled out. */
export function escapeCode(text: string, room = Number.POSITIVE_INFINITY): string {
  // Spelling out makes nothing shorter.
  const shown = neutralise(text.slice(0, room)).replace(/[`\n\t]/g, spelledOut);
  return `\`${firstPart(shown, room - 2) || ' '}\``;
}

export function fitsCode(text: string, room: number): boolean {
  return text.length <= room && escapeCode(text).length <= room;
}

/** Never ends in half of a character. */
export function firstPart(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
