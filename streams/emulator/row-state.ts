// Rows of the emulator's screen as text.

import type { IBuffer, IBufferLine } from '@xterm/headless';

/** Rows that the terminal broke at its margin are one line. `end` is left out, but looked at for that. */
export function joinRows(
  buffer: IBuffer,
  start: number,
  end: number,
  inLine: boolean,
  open = false,
): { text: string; inLine: boolean } {
  let text = '';
  let within = inLine;
  for (let y = start; y < end; y++) {
    const row = buffer.getLine(y);
    if (row === undefined) break;
    if (within && !row.isWrapped) text += '\n';
    const next = buffer.getLine(y + 1);
    const last = open && y === end - 1;
    within = next?.isWrapped === true && !last;
    text += within && next !== undefined ? fullRow(row, next) : row.translateToString(true);
    if (!within && !last) text += '\n';
  }
  return { text, inLine: within };
}

/** A wide character that did not fit into the last column has left it empty. */
function fullRow(row: IBufferLine, next: IBufferLine): string {
  const text = row.translateToString(false);
  const gap = row.getCell(row.length - 1)?.getChars() === '' && next.getCell(0)?.getWidth() === 2;
  return gap && row.getCell(row.length - 1)?.getWidth() === 1 ? text.slice(0, -1) : text;
}

/** Behind the last row that shows something, or on which the program goes on writing. */
export function lastRow(buffer: IBuffer, rows: number): number {
  const cursor = buffer.type === 'alternate' ? 0 : buffer.cursorY + 1;
  for (let y = rows; y > cursor; y--)
    if (
      buffer
        .getLine(buffer.baseY + y - 1)
        ?.translateToString(true)
        .trim() !== ''
    )
      return buffer.baseY + y;
  return buffer.baseY + cursor;
}
