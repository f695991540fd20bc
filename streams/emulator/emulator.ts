// What a terminal would show of a program's output. Text that has scrolled off the top is returned once and is final;
// text on the screen may still change. Colours are dropped, and queries to the terminal get no answer.

import xterm, { type IMarker, type ITerminalInitOnlyOptions, type ITerminalOptions } from '@xterm/headless';
import { type FilterState, filterOutput, terminalWidths } from './filter.ts';
import { captureScreen, joinRows, lastRow, restoreScreen, sizeWithin, trackHidden } from './screen-state.ts';
import type { EmulatorSize, Snapshot } from './snapshot.ts';

export interface Emulator {
  /** Returns the text that has left the screen. */
  feed(bytes: Uint8Array): string;
  /** The text on the screen, which follows the text that has left it. */
  live(): string;
  snapshot(): Snapshot;
  resize(size: EmulatorSize): string;
  /** At the end of the output: the rest, including the normal screen that the alternate one hides. */
  finish(): { readonly left: string; readonly live: string };
}

/** A piece can push off at most one line per character, so no line is lost before it is taken. */
const CHARACTERS_AT_ONCE = 1024;
const SCROLLBACK = CHARACTERS_AT_ONCE + 64;

export function openEmulator(size: EmulatorSize, from?: Snapshot): Emulator {
  const now = sizeWithin(from?.size ?? size);
  const options: ITerminalOptions & ITerminalInitOnlyOptions = {
    cols: now.width,
    rows: now.height,
    scrollback: SCROLLBACK,
  };
  const terminal = new xterm.Terminal({ ...options, allowProposedApi: true, logLevel: 'off' });
  const lacksRoom = () => terminal.buffer.active.cursorX > terminal.cols - 2;
  const widths = terminalWidths(() => lacksRoom() && !terminal.modes.wraparoundMode);
  terminal.unicode.register(widths);
  terminal.unicode.activeVersion = widths.version;
  const hidden = trackHidden(terminal);
  let state: FilterState = { inside: from?.inside ?? 'nothing', marks: from?.marks ?? 0 };
  let carry = Buffer.from(from?.carry ?? '', 'base64');
  let inLine = from?.inLine ?? false;
  /** Rows below `taken` that were also taken while the marker could not be moved. */
  let above = 0;
  /** The last row that was taken, tracked by the terminal. */
  let taken: IMarker | undefined;
  let text = '';

  /** After user input the emulator writes synchronously. */
  const write = (data: string) => {
    terminal.input('', true);
    terminal.write(data);
  };
  const mark = () => {
    const { normal, active } = terminal.buffer;
    if (active.type === 'alternate') return; // nothing leaves the normal screen meanwhile
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
  const feed = (data: string) => {
    for (const piece of inPieces(data, CHARACTERS_AT_ONCE)) {
      write(piece);
      take();
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

  /** The emulator throws when it erases up to the last cell of the screen: it looks for the next row. */
  const failsOn = (what: number | number[] | undefined) => {
    const { cursorX, cursorY } = terminal.buffer.active;
    return what === 1 && cursorX >= terminal.cols - 1 && cursorY === terminal.rows - 1;
  };
  // The history is already in the thread: a program that clears it does not clear the thread.
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
      const all = Buffer.concat([carry, bytes]);
      const whole = wholeLength(all);
      const filtered = filterOutput(state, all.toString('utf8', 0, whole), {
        width: terminal.cols,
        height: terminal.rows,
      });
      state = { inside: filtered.inside, marks: filtered.marks };
      carry = Buffer.concat([Buffer.from(filtered.rest), all.subarray(whole)]);
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
    resize(wanted) {
      const { width, height } = sizeWithin(wanted);
      if (width === terminal.cols && height === terminal.rows) return '';
      terminal.options.scrollback = 0; // rows that were taken must not return onto a higher screen
      terminal.options.scrollback = SCROLLBACK;
      taken?.dispose();
      above = 0;
      terminal.resize(width, height);
      take();
      return taking();
    },
    finish() {
      const tail = carry.length > 0 && carry[0] !== 0x1b ? carry.toString('utf8') : '';
      carry = Buffer.alloc(0);
      const left = feed(tail);
      const shown = live();
      if (terminal.buffer.active.type === 'normal') return { left, live: shown };
      write('\x1b[?1049l');
      const both = [live(), shown.replace(/^\n/, '')].filter((screen) => screen !== '');
      return { left, live: both.join('\n') };
    },
  };
}

/** Never splits a surrogate pair. It may split escape sequences, because no snapshot is made in between. */
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

/** Excludes an incomplete character at the end. */
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
