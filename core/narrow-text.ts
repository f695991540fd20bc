// Makes text that was drawn for a wide terminal readable on a phone: no empty margins, no lines wider than the screen. Pure.

import { displayWidth } from './markdown-tables.ts';

/** What fits into a code block on a phone without scrolling sideways. */
const PHONE_COLUMNS = 60;

/** Much more than a message holds; a host may send megabytes. */
const LOOKED_AT = 50_000;

/** Lines of box drawing only, or of one character: a line with several could be a part of a command. */
const RULE = /^(?:[\s─━═▔▁╌╍┄┅┈┉╭╮╰╯┌┐└┘├┤┬┴┼│╞╡╪]+|\s*(?:=+|_+|-+))$/u;
const LEFT_SIDE = /^(\s*)[│┃║]\s?/u;
const RIGHT_SIDE = /[│┃║]$/u;

/**
 * Empty lines at both ends, the common margin and runs of empty lines are removed. A line that is too wide is wrapped at a
 * space and loses the sides of its box. Only rules are cut: people answer dialogs by this text, so no word may be missing.
 */
export function narrowText(text: string, columns = PHONE_COLUMNS): string {
  const end = text.length > LOOKED_AT ? `…\n${text.slice(-LOOKED_AT)}` : text;
  const lines = end.split('\n').map((line) => line.replaceAll('\u00a0', ' ').trimEnd());
  const first = lines.findIndex((line) => line !== '');
  if (first < 0) return '';
  const last = lines.findLastIndex((line) => line !== '');
  const shown = lines.slice(first, last + 1).filter((line, at, all) => line !== '' || all[at - 1] !== '');
  const margin = Math.min(...shown.filter((line) => line !== '').map((line) => line.length - line.trimStart().length));
  return shown.flatMap((line) => narrowed(line.slice(margin), columns)).join('\n');
}

function narrowed(line: string, columns: number): readonly string[] {
  const cells = [...line];
  if (widthOf(cells) <= columns) return [line];
  if (RULE.test(line)) return [cells.slice(0, columns).join('').trimEnd()];
  return wrapped([...line.replace(LEFT_SIDE, '$1').replace(RIGHT_SIDE, '').trimEnd()], columns);
}

/** Continued lines get the indentation of the first one, so that lists stay lists. */
function wrapped(cells: readonly string[], columns: number): readonly string[] {
  const indent = cells.findIndex((cell) => cell !== ' ');
  const before = indent > columns / 2 ? '' : ' '.repeat(indent);
  const lines: string[] = [];
  // Columns are separated by wide gaps, which would waste the width that there is.
  const all = [...cells.join('').slice(indent).replace(/ {3,}/g, '  ')];
  const room = columns - before.length;
  for (let from = 0; from < all.length; ) {
    const part = take(all, from, room);
    const space = from + part.length === all.length ? -1 : part.lastIndexOf(' ');
    const end = space > room / 2 ? space : part.length;
    lines.push(`${before}${part.slice(0, end).join('').trimEnd()}`);
    from += end;
    while (all[from] === ' ') from++;
  }
  return lines;
}

/** As many as fit, beginning there; at least one. */
function take(cells: readonly string[], from: number, columns: number): readonly string[] {
  let end = from;
  for (let width = 0; end < cells.length; end++) {
    width += displayWidth(cells[end] ?? '');
    if (width > columns) break;
  }
  return cells.slice(from, Math.max(from + 1, end));
}

function widthOf(cells: readonly string[]): number {
  return displayWidth(cells.join(''));
}
