// A program's output as text: log, emulator and store, moved on together. What is read is bounded, and what it says of
// itself is enough to go on from there after a crash.

import { setImmediate as breathe } from 'node:timers/promises';
import { type Emulator, openEmulator } from '../emulator/emulator.ts';
import type { EmulatorSize } from '../emulator/size.ts';
import { LOG_START, openTerminalLog, type TerminalLog } from './log.ts';
import type { RetryLimit } from './retry-limit.ts';
import type { TerminalState } from './state.ts';
import { openTextStore, type TextStore } from './text-store.ts';

export interface TerminalOutput {
  readonly log: TerminalLog;
  readonly store: TextStore;
  /** Reads on, a part of what there is: until the text has so many bytes, and little more. */
  advance(textBytes: number): Promise<Advance>;
  live(): string;
  /** Resolves with the text that left the screen. */
  resize(size: EmulatorSize): Promise<string>;
  /** There is nothing more to read: what is on the screen is final, too. */
  finish(): Promise<Advance & { readonly live: string }>;
  checkpoint(): Pick<TerminalState, 'position' | 'emulator' | 'text' | 'lines'>;
  lines(): number;
  close(): void;
}

interface Advance {
  /** The text that will change no more, already stored. */
  readonly text: string;
  /** Something was read at all. */
  readonly moved: boolean;
}

export const TERMINAL_SIZE: EmulatorSize = { width: 100, height: 30 };
/** A program can make sixty bytes of text with one: a megabyte with these. */
const READ_BYTES = 16 * 1024;
/** For one update; the others wait meanwhile. */
const ADVANCE_BYTES = 4 * 1024 * 1024;
const ADVANCE_MS = 1000;
/** A cancel ends whatever sequence the missing part had begun. */
const GAP = '\x18\x1b[m\r\n… output was dropped here: the log had no room for it …\r\n';

interface OutputOptions {
  /** Holds the log and the text. */
  readonly logFolder: string;
  readonly folder: string;
  readonly size: EmulatorSize;
  readonly keptBytes: number;
  /** A disk may be full for a while. */
  readonly patiently: RetryLimit;
}

export async function openTerminalOutput(
  options: OutputOptions,
  state: TerminalState | undefined,
): Promise<TerminalOutput> {
  const log = openTerminalLog(options.logFolder, state?.position ?? LOG_START);
  const store = openTextStore(options.folder, state?.text, options.keptBytes);
  const emulator: Emulator = await openEmulator(options.size, state?.emulator);
  let lines = state?.lines ?? 0;
  const stored = async (text: string): Promise<Advance> => {
    await options.patiently(() => store.append(text));
    lines += linesIn(text);
    return { text, moved: true };
  };
  return {
    log,
    store,
    async advance(textBytes) {
      let text = '';
      let made = 0;
      let read = 0;
      const until = performance.now() + ADVANCE_MS;
      while (read < ADVANCE_BYTES && made < textBytes && performance.now() < until) {
        const reading = await options.patiently(() => log.read(READ_BYTES));
        if (reading.kind === 'nothing') break;
        const bytes = reading.kind === 'gap' ? Buffer.from(GAP) : reading.bytes;
        read += bytes.length;
        const more = await emulator.feed(bytes);
        made += Buffer.byteLength(more);
        text += more;
        await breathe();
      }
      return { ...(await stored(text)), moved: read > 0 };
    },
    live: emulator.live,
    resize: async (size) => (await stored(await emulator.resize(size))).text,
    async finish() {
      const { left, live } = await emulator.finish();
      return { ...(await stored(left)), live };
    },
    checkpoint: () => ({
      position: log.position(),
      emulator: emulator.snapshot(),
      text: store.kept(),
      lines,
    }),
    lines: () => lines,
    close: emulator.close,
  };
}

export function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
