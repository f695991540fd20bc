// Makes text that was drawn for a wide terminal readable on a phone: no empty margins, no lines wider than the screen. Pure.

import { displayWidth } from './markdown-tables.ts';

/** What fits into a code block on a phone without scrolling sideways. */
export const PHONE_COLUMNS = 60;

/** Lines of box drawing only. */
const RULE = /^[\s─━═▔▁╌╍┄┅┈┉╭╮╰╯┌┐└┘├┤┬┴┼│|╞╡╪+=_-]+$/u;
const LEFT_SIDE = /^(\s*)[│┃║]\s?/u;
const RIGHT_SIDE = /[│┃║]$/u;

/**
 * Empty lines at both ends, the common margin and runs of empty lines are removed. A line that is too wide is wrapped at a
 * space and loses the sides of its box. Only rules are cut: people answer dialogs by this text, so no word may be missing.
 */
export function narrowText(text: string, columns = PHONE_COLUMNS): string {
  const lines = text.split('\n').map((line) => line.replaceAll('\u00a0', ' ').trimEnd());
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
  let left = [...cells.join('').slice(indent).replace(/ {3,}/g, '  ')];
  while (left.length > 0) {
    const room = columns - before.length;
    const part = take(left, room);
    const space = widthOf(left) <= room ? -1 : part.lastIndexOf(' ');
    const end = space > room / 2 ? space : part.length;
    lines.push(`${before}${left.slice(0, end).join('').trimEnd()}`);
    left = left.slice(end);
    const next = left.findIndex((cell) => cell !== ' ');
    left = next < 0 ? [] : left.slice(next);
  }
  return lines;
}

/** As many as fit; at least one. */
function take(cells: readonly string[], columns: number): readonly string[] {
  let width = 0;
  const end = cells.findIndex((cell) => {
    width += displayWidth(cell);
    return width > columns;
  });
  return end < 0 ? cells : cells.slice(0, Math.max(1, end));
}

function widthOf(cells: readonly string[]): number {
  return displayWidth(cells.join(''));
}
