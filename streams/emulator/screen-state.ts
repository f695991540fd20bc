// Saves and restores a terminal's screen. Only what affects text is saved: characters, where lines were broken,
// cursor, margins, character sets. Colours are not shown and not saved.

import type { IBuffer, IBufferLine, Terminal } from '@xterm/headless';
import type { EmulatorScreen, EmulatorSize, Grid, HiddenState } from './snapshot.ts';

export function captureScreen(terminal: Terminal, hidden: HiddenState): EmulatorScreen {
  const { normal, alternate, active } = terminal.buffer;
  const { insertMode, originMode, wraparoundMode } = terminal.modes;
  return {
    normal: gridOf(normal, terminal.rows),
    ...(active.type === 'alternate' ? { alternate: gridOf(alternate, terminal.rows) } : {}),
    modes: { insert: insertMode, origin: originMode, wraparound: wraparoundMode },
    hidden,
  };
}

function gridOf(buffer: IBuffer, height: number): Grid {
  const rows: string[] = [];
  const wrapped: number[] = [];
  for (let y = 0; y < height; y++) {
    const line = buffer.getLine(buffer.baseY + y);
    if (line?.isWrapped === true) wrapped.push(y);
    let row = '';
    let end = 0;
    for (let x = 0; x < (line?.length ?? 0); x++) {
      const cell = line?.getCell(x);
      if (cell?.getWidth() === 0) continue;
      const chars = cell?.getChars();
      row += chars || '\0';
      if (chars) end = row.length;
    }
    rows.push(row.slice(0, end));
  }
  return { rows, wrapped, cursor: [buffer.cursorX, buffer.cursorY], before: beforeCursor(buffer) };
}

function beforeCursor(buffer: IBuffer): [string, number] {
  const row = buffer.getLine(buffer.baseY + buffer.cursorY);
  const cell = row?.getCell(buffer.cursorX - 1);
  const width = cell?.getWidth() === 0 ? 2 : 1;
  const whole = width === 2 ? row?.getCell(buffer.cursorX - 2) : cell;
  return [whole?.getWidth() === width ? whole.getChars() : '', width];
}

/** The output that makes a new terminal of this size show the screen. */
export function restoreScreen(screen: EmulatorScreen, size: EmulatorSize): string {
  const { normal, alternate, modes, hidden } = screen;
  const grid = alternate ?? normal;
  const active = alternate === undefined ? 'normal' : 'alternate';
  const region = hidden.region[active];
  const saved = hidden.saved[active];
  return [
    drawn(normal, size),
    hidden.region.normal === undefined ? '' : `\x1b[${hidden.region.normal.join(';')}r`,
    alternate === undefined ? '' : `${to(...normal.cursor)}\x1b[?1049h${drawn(alternate, size)}`,
    saved === undefined ? '' : `${to(...saved)}\x1b7`,
    alternate !== undefined && region !== undefined ? `\x1b[${region.join(';')}r` : '',
    modes.origin ? '\x1b[?6h' : '',
    cursorBack(grid, modes.origin ? (region?.[0] ?? 1) - 1 : 0),
    modes.wraparound ? '' : '\x1b[?7l',
    modes.insert ? '\x1b[4h' : '',
    hidden.sets.join('') === 'BB' ? '' : `\x1b(${hidden.sets[0]}\x1b)${hidden.sets[1]}`,
    hidden.shifted ? '\x0e' : '',
  ].join('');
}

/** First the line breaks, which only writing past the margin creates; then the content of the rows. The extra row scrolls off. */
function drawn({ rows, wrapped }: Grid, { width, height }: EmulatorSize) {
  const goesOn = (y: number) => wrapped.includes(y + 1);
  let broken = '\x1b[H';
  for (let y = -1; y < height; y++) broken += goesOn(y) ? 'x'.repeat(width) : `x${y < height - 1 ? '\r\n' : ''}`;
  const shown = rows.map((row, y) => {
    const cells = row.replace(/\0+/g, (empty) => `\x1b[${empty.length}C`);
    return `${to(0, y)}\x1b[${width}X${cells}`;
  });
  return broken + shown.join('');
}

/** Printing the character before the cursor again lets it take later marks and, at the margin, a later line break. */
function cursorBack({ cursor: [x, y], before: [before, width] }: Grid, top: number): string {
  return before === '' ? to(x, y - top) : to(x - width, y - top) + before;
}

function to(x: number, y: number): string {
  return `\x1b[${y + 1};${x + 1}H`;
}

interface HiddenTracker {
  /** The text that the terminal receives next. */
  saw(text: string): void;
  now(): HiddenState;
  restore(screen: EmulatorScreen): void;
}

/** Tracks state that the terminal does not expose. */
export function trackHidden(terminal: Terminal): HiddenTracker {
  let hidden: HiddenState = { region: {}, saved: {}, sets: ['B', 'B'], shifted: false };
  let savedAt = 0; // the first row of the normal screen at that time, counted over all rows
  const { parser } = terminal;
  const save = () => {
    const { cursorX, cursorY, type } = terminal.buffer.active;
    const at: [number, number] = [Math.min(cursorX, terminal.cols - 1), cursorY];
    hidden = { ...hidden, saved: { ...hidden.saved, [type]: at } };
    if (type === 'normal') savedAt = terminal.buffer.normal.baseY;
    return false;
  };
  const forget = () => {
    hidden = { ...hidden, region: {}, saved: {}, sets: ['B', 'B'] };
    return false;
  };
  parser.registerCsiHandler({ final: 'r' }, ([top, bottom]) => {
    const first = Number(top) || 1;
    const last = Math.min(Number(bottom) || terminal.rows, terminal.rows);
    if (last > first)
      hidden = { ...hidden, region: { ...hidden.region, [terminal.buffer.active.type]: [first, last] } };
    return false;
  });
  parser.registerEscHandler({ final: '7' }, save);
  parser.registerCsiHandler({ prefix: '?', final: 'h' }, ([mode]) => (mode === 1049 || mode === 1048 ? save() : false));
  parser.registerCsiHandler({ final: 's' }, save);
  parser.registerEscHandler({ final: 'c' }, forget);
  parser.registerCsiHandler({ intermediates: '!', final: 'p' }, forget);
  for (const [at, intermediates] of ['(', ')'].entries())
    for (const final of ['0', 'A', 'B'])
      parser.registerEscHandler({ intermediates, final }, () => {
        const [first, second] = hidden.sets;
        hidden = { ...hidden, sets: at === 0 ? [final, second] : [first, final] };
        return false;
      });
  return {
    saw(text) {
      const out = text.lastIndexOf('\x0e');
      const back = Math.max(text.lastIndexOf('\x0f'), text.lastIndexOf('\x1bc'));
      if (out !== back) hidden = { ...hidden, shifted: out > back };
    },
    now() {
      const { normal } = hidden.saved;
      const moved = terminal.buffer.normal.baseY - savedAt;
      if (normal === undefined) return hidden;
      const now: [number, number] = [normal[0], Math.max(0, normal[1] - moved)];
      return { ...hidden, saved: { ...hidden.saved, normal: now } };
    },
    restore(screen) {
      hidden = screen.hidden;
      savedAt = terminal.buffer.normal.baseY;
    },
  };
}

/** Rows that the terminal broke at its margin become one line. `end` is excluded, but read to see whether it continues the line. */
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

/** A wide character that did not fit has left the last column empty. */
function fullRow(row: IBufferLine, next: IBufferLine): string {
  const text = row.translateToString(false);
  const gap = row.getCell(row.length - 1)?.getChars() === '' && next.getCell(0)?.getWidth() === 2;
  return gap && row.getCell(row.length - 1)?.getWidth() === 1 ? text.slice(0, -1) : text;
}

/** The row after the last one that shows something or has the cursor. */
export function lastRow(buffer: IBuffer, rows: number): number {
  const cursor = buffer.type === 'alternate' ? 0 : buffer.cursorY + 1;
  for (let y = rows; y > cursor; y--) {
    const row = buffer.getLine(buffer.baseY + y - 1)?.translateToString(true);
    if (row?.trim() !== '') return buffer.baseY + y;
  }
  return buffer.baseY + cursor;
}

// The size of a terminal, and the limits of the emulator.

/** tmux allows 10,000 each way, which would cost the emulator gigabytes. Beyond this, lines break elsewhere than in tmux. */
const LARGEST: EmulatorSize = { width: 400, height: 150 };
/** The smallest size that the emulator supports. */
const SMALLEST: EmulatorSize = { width: 2, height: 1 };

export function sizeWithin({ width, height }: EmulatorSize): EmulatorSize {
  return { width: within('width', width), height: within('height', height) };
}

function within(side: keyof EmulatorSize, value: number): number {
  return Math.min(Math.max(Math.trunc(value) || 0, SMALLEST[side]), LARGEST[side]);
}
