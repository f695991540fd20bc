// Words of others inside our own lines: nothing in them is Markdown, a mention or invisible, and
// none is ever longer than the room it has.

import { neutralise } from '../core/neutralise.ts';

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

export function code(text: string, room = Number.POSITIVE_INFINITY): string {
  return `\`${begin(visible(text).replaceAll('`', "'"), room - 2) || ' '}\``;
}

/** Never ends in half of a character. */
export function begin(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
