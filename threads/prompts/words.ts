// Words of others inside our own lines: nothing in them is Markdown, a mention or invisible, and
// none is ever longer than the room it has.

import { neutralise, spelledOut } from '../../core/neutralise.ts';

/** In one line, with everything in it visible. */
export function visible(text: string): string {
  return neutralise(text).replace(/\s+/g, ' ').trim();
}

/** Shown letter by letter. */
export function plain(text: string, room = Number.POSITIVE_INFINITY): string {
  let shown = '';
  for (const point of visible(text)) {
    const next = /[\\*_~`|>#[\]<@]/.test(point) ? `\\${point}` : point;
    if (shown.length + next.length >= room) return `${shown}…`;
    shown += next;
  }
  return shown;
}

/** Whether `plain` shows all of it in this room. */
export function fitsPlain(text: string, room: number): boolean {
  return plain(text, room) === plain(text);
}

/** Exact: a backtick would end it, and a line break or a tab would look like a space, so they are spelled out. */
export function code(text: string, room = Number.POSITIVE_INFINITY): string {
  const shown = neutralise(text).replace(/[`\n\t]/g, spelledOut);
  return `\`${begin(shown, room - 2) || ' '}\``;
}

export function fitsCode(text: string, room: number): boolean {
  return code(text).length <= room;
}

/** Never ends in half of a character. */
export function begin(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
