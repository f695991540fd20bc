// What a terminal would show of a program's output. What has left the screen at its top is said once, as text that
// changes no more; what is on the screen may still change. Colours go, questions to the terminal get no answer.

import { setImmediate as breathe } from 'node:timers/promises';
import type { IMarker, ITerminalInitOnlyOptions, ITerminalOptions } from '@xterm/headless';
import { type FilterMode, type FilterState, filterOutput, SPARE_CELLS, terminalWidths } from './filter.ts';
import {
  captureScreen,
  type EmulatorScreen,
  type EmulatorSize,
  joinRows,
  lastRow,
  restoreScreen,
  sizeWithin,
  trackHidden,
} from './screen-state.ts';

export interface Emulator {
  /** Resolves with the text that has left the screen. */
  feed(bytes: Uint8Array): Promise<string>;
  /** What is on the screen: it goes on where the text before has ended. */
  live(): string;
  snapshot(): Snapshot;
  resize(size: EmulatorSize): Promise<string>;
  /** Nothing comes any more: the rest, the screen that the alternate one had hidden included. */
  finish(): Promise<{ readonly left: string; readonly live: string }>;
  close(): void;
}

/** All that an emulator needs to go on as if nothing had happened. */
export interface Snapshot {
  readonly size: EmulatorSize;
  readonly screen: EmulatorScreen;
  readonly inside: FilterMode;
  readonly marks: number;
  /** Bytes that were fed and not yet shown: half a character, half a sequence. Base64. */
  readonly carry: string;
  /** The text that left the screen ends inside a line. */
  readonly inLine: boolean;
}

/** One piece can push at most so many lines off the screen as it has characters: none goes before it was taken. */
const CHARACTERS_AT_ONCE = 1024;
const SCROLLBACK = CHARACTERS_AT_ONCE + 64;
const BUSY_MS = 12;
const CREDIT_EVERY_MS = 1000;
const SKIPPED = '… some of what the program does to its screen was skipped here: it is too much to follow …\n';

export async function openEmulator(size: EmulatorSize, from?: Snapshot): Promise<Emulator> {
  const xterm = await import('@xterm/headless');
  const { Terminal } = (xterm as unknown as { default?: typeof xterm }).default ?? xterm;
  const now = sizeWithin(from?.size ?? size);
  const options: ITerminalOptions & ITerminalInitOnlyOptions = {
    cols: now.width,
    rows: now.height,
    scrollback: SCROLLBACK,
  };
  const terminal = new Terminal({ ...options, allowProposedApi: true, logLevel: 'off' });
  terminal.unicode.register(terminalWidths);
  terminal.unicode.activeVersion = terminalWidths.version;
  const hidden = trackHidden(terminal);
  let state: FilterState = {
    inside: from?.inside ?? 'nothing',
    marks: from?.marks ?? 0,
    credit: SPARE_CELLS,
  };
  let creditAt = performance.now();
  /** In this second, and in the one before: a flood that goes on is told once. */
  let skips = false;
  let skipped = false;
  let carry = Buffer.from(from?.carry ?? '', 'base64');
  let inLine = from?.inLine ?? false;
  /** Rows below that one that were taken, too, while it could not be moved. */
  let above = 0;
  /** The last row that was taken, as the terminal keeps track of it. */
  let taken: IMarker | undefined;
  let text = '';

  /** After an input of the user's the emulator writes at once: what fails in it is thrown here, and not at the whole process. */
  const write = (data: string) => {
    terminal.input('', true);
    terminal.write(data);
  };
  const mark = () => {
    const { normal, active } = terminal.buffer;
    if (active.type === 'alternate') return; // nothing leaves the other screen meanwhile
    taken?.dispose();
    taken = normal.baseY === 0 ? undefined : terminal.registerMarker(-1 - normal.cursorY);
  };
  const take = () => {
    const { normal, active } = terminal.buffer;
    const start = taken === undefined || taken.isDisposed ? 0 : taken.line + 1;
    const rows = joinRows(normal, start + above, normal.baseY, inLine);
    text += rows.text;
    inLine = rows.inLine;
    above = active.type === 'alternate' ? normal.baseY - start : 0;
    mark();
  };
  const taking = () => {
    const said = text;
    text = '';
    return said;
  };
  /** Among the text that has left the screen, where nothing erases it. */
  const tellSkipped = () => {
    if (!skips && !skipped) {
      text += (inLine ? '\n' : '') + SKIPPED;
      inLine = false;
    }
    skips = true;
  };
  const feed = async (data: string) => {
    let since = performance.now();
    for (const piece of inPieces(data, CHARACTERS_AT_ONCE)) {
      write(piece);
      take();
      if (performance.now() - since < BUSY_MS) continue;
      await breathe();
      since = performance.now();
    }
    return taking();
  };
  const live = () => {
    const buffer = terminal.buffer.active;
    const last = lastRow(buffer, terminal.rows);
    const alternate = buffer.type === 'alternate';
    const joint = alternate && inLine ? '\n' : '';
    return joint + joinRows(buffer, buffer.baseY, last, !alternate && inLine, true).text;
  };

  /** Erasing up to the last cell of the screen fails in the emulator: it looks for the row behind. */
  const failsOn = (what: number | number[] | undefined) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    return what === 1 && cursorX >= terminal.cols - 1 && cursorY === terminal.rows - 1;
  };
  // The history belongs to the thread by now: a program that clears it does not clear the thread.
  terminal.parser.registerCsiHandler({ final: 'J' }, ([what]) => what === 3 || failsOn(what));
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'J' }, ([what]) => failsOn(what));
  terminal.parser.registerEscHandler({ final: 'c' }, () => {
    take();
    taken?.dispose();
    above = 0;
    return false;
  });
  if (from !== undefined) {
    write(restoreScreen(from.screen, now));
    hidden.restore(from.screen);
    const alternate = from.screen.alternate !== undefined;
    if (alternate) above = terminal.buffer.normal.baseY;
    else mark();
  }

  return {
    feed(bytes) {
      if (performance.now() - creditAt >= CREDIT_EVERY_MS) {
        creditAt = performance.now();
        state = { ...state, credit: SPARE_CELLS };
        skipped = skips;
        skips = false;
      }
      const all = Buffer.concat([carry, bytes]);
      const whole = wholeLength(all);
      const { cols: width, rows: height } = terminal;
      const screen = { width, height, inserts: terminal.modes.insertMode };
      const filtered = filterOutput(state, all.toString('utf8', 0, whole), screen);
      state = { inside: filtered.inside, marks: filtered.marks, credit: filtered.credit };
      carry = Buffer.concat([Buffer.from(filtered.rest), all.subarray(whole)]);
      if (filtered.skipped > 0) tellSkipped();
      hidden.saw(filtered.feed);
      return feed(filtered.feed);
    },
    live,
    snapshot: () => ({
      size: { width: terminal.cols, height: terminal.rows },
      screen: captureScreen(terminal, hidden.now()),
      inside: state.inside,
      marks: state.marks,
      carry: carry.toString('base64'),
      inLine,
    }),
    async resize(wanted) {
      const { width, height } = sizeWithin(wanted);
      if (width === terminal.cols && height === terminal.rows) return '';
      terminal.options.scrollback = 0; // what was taken must not come back onto a higher screen
      terminal.options.scrollback = SCROLLBACK;
      taken?.dispose();
      above = 0;
      terminal.resize(width, height);
      take();
      return taking();
    },
    async finish() {
      const tail = carry.length > 0 && carry[0] !== 0x1b ? carry.toString('utf8') : '';
      carry = Buffer.alloc(0);
      const left = await feed(tail);
      const shown = live();
      if (terminal.buffer.active.type === 'normal') return { left, live: shown };
      write('\x1b[?1049l');
      const both = [live(), shown.replace(/^\n/, '')].filter((screen) => screen !== '');
      return { left, live: both.join('\n') };
    },
    close: () => terminal.dispose(),
  };
}

/** Never between the halves of a surrogate pair. Escape sequences may be parted: no snapshot is made in between. */
function inPieces(text: string, size: number): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const high = (text.charCodeAt(at + size - 1) & 0xfc00) === 0xd800;
    const end = high ? at + size - 1 : at + size;
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** Without a character at the end of which only the beginning is there. */
function wholeLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return wanted > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}
