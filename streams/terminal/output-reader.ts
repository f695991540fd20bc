// A program's output as text: the log, the emulator and the stored text advance together. Reading is bounded, and a checkpoint is
// enough to continue after a crash. Discord and the disk are retried with a limit.

import { setTimeout as sleep } from 'node:timers/promises';
import { explain, isThreadmuxError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import {
  MISSING_ACCESS,
  MISSING_PERMISSIONS,
  THREAD_ARCHIVED,
  THREAD_LOCKED,
  TOO_MANY_EDITS_OF_OLD_MESSAGE,
  UNKNOWN_CHANNEL,
} from '../../discord/error-codes.ts';
import { refusedWith } from '../../discord/messages.ts';
import {
  type EmulatorLimits,
  type EmulatorProcess,
  type ShownScreen,
  startEmulator,
} from '../emulator/emulator-process.ts';
import type { EmulatorSize } from '../emulator/snapshot.ts';
import { LOG_START, openTerminalLog, type TerminalLog } from './log.ts';
import { openTextStore, type TerminalState, type TextStore } from './state.ts';

export interface TerminalOutput {
  readonly log: TerminalLog;
  readonly store: TextStore;
  /** Reads more of the log, until there are about `textBytes` of text. */
  advance(textBytes: number): Promise<Advance>;
  live(): string;
  /** Resolves with the text that left the screen. */
  resize(size: EmulatorSize): Promise<string>;
  /** Nothing more will be read: the text on the screen is final, too. */
  finish(): Promise<Advance & { readonly live: string }>;
  checkpoint(): Pick<TerminalState, 'position' | 'emulator' | 'text' | 'lines'>;
  lines(): number;
  close(): void;
}

interface Advance {
  /** Text that can no longer change, already stored. */
  readonly text: string;
  /** Whether anything was read. */
  readonly moved: boolean;
}

export const TERMINAL_SIZE: EmulatorSize = { width: 100, height: 30 };
/** A program can make 130 bytes of text from one byte of output. */
const READ_BYTES = 16 * 1024;
/** Per update. */
const ADVANCE_BYTES = 4 * 1024 * 1024;
const ADVANCE_MS = 1000;
const IDLE_MS = 30_000;
/** The cancel character ends a sequence that began in the missing part. */
const GAP = '\x18\x1b[m\r\n… output was dropped here: the log had no room for it …\r\n';

interface OutputOptions {
  /** Contains the log and the text. */
  readonly logFolder: string;
  readonly folder: string;
  readonly size: EmulatorSize;
  readonly keptBytes: number;
  /** The disk may be full for a while. */
  readonly retried: RetryLimit;
  readonly emulator: EmulatorLimits;
  readonly signal: AbortSignal;
}

export async function openTerminalOutput(
  options: OutputOptions,
  state: TerminalState | undefined,
): Promise<TerminalOutput> {
  const log = openTerminalLog(options.logFolder, state?.position ?? LOG_START);
  const store = openTextStore(options.folder, state?.text, options.keptBytes);
  let running: EmulatorProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  let snapshot = state?.emulator;
  const start = async () => {
    const started = startEmulator(options.size, snapshot, options.emulator, options.signal);
    await started.screen();
    return started;
  };
  const emulator = async () => {
    clearTimeout(idle);
    running ??= await options.retried(start);
    return running;
  };
  const close = () => {
    clearTimeout(idle);
    running?.close();
    running = undefined;
  };
  /** Its screen is enough to continue, so an idle terminal keeps no process. */
  const shown = async () => {
    const now = await (await emulator()).screen();
    ({ snapshot } = now);
    idle = setTimeout(close, options.emulator.idleMs ?? IDLE_MS).unref();
    return now;
  };
  /** After what was read so far. */
  let screen: ShownScreen = await shown();
  let lines = state?.lines ?? 0;
  const stored = async (text: string): Promise<Advance> => {
    await options.retried(() => store.append(text));
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
        const reading = await options.retried(() => log.read(READ_BYTES));
        if (reading.kind === 'nothing') break;
        const bytes = reading.kind === 'gap' ? Buffer.from(GAP) : reading.bytes;
        read += bytes.length;
        const more = await (await emulator()).feed(bytes);
        made += Buffer.byteLength(more);
        text += more;
      }
      if (read > 0) screen = await shown();
      return { ...(await stored(text)), moved: read > 0 };
    },
    live: () => screen.live,
    async resize(size) {
      const now = screen.snapshot.size;
      if (size.width === now.width && size.height === now.height) return '';
      const left = await (await emulator()).resize(size);
      screen = await shown();
      return (await stored(left)).text;
    },
    async finish() {
      const { left, live } = await (await emulator()).finish();
      screen = await shown();
      return { ...(await stored(left)), live };
    },
    checkpoint: () => ({ position: log.position(), emulator: screen.snapshot, text: store.kept(), lines }),
    lines: () => lines,
    close,
  };
}

export function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

// Retries what Discord or the disk refuses, because both can recover. A deleted thread does not recover, and a permanent
// refusal of Discord is not retried forever.
/** `instead` runs when Discord has refused permanently. `act` must be repeatable. */
type RetryLimit = <T>(act: () => Promise<T> | T, instead?: () => Promise<T> | T) => Promise<T>;

interface RetryLimitOptions {
  readonly thread: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly retryMs?: number | undefined;
  /** How long to wait for a missing permission. */
  readonly lackingMs?: number | undefined;
}

const RETRY_MS = 5000;
const LACKING_MS = 30_000;
/** How many refusals count as permanent. */
export const TRIES = 3;

/** A missing permission or a locked thread: someone may change that. */
const LACKING = [MISSING_ACCESS, MISSING_PERMISSIONS, THREAD_LOCKED];
/** An archived thread, or a message that was edited too often: the caller handles these. */
const CURABLE = [THREAD_ARCHIVED, TOO_MANY_EDITS_OF_OLD_MESSAGE];

/** Code 0 comes from a proxy, not from Discord. */
export function refusedForGood(error: unknown): boolean {
  return (
    isThreadmuxError(error, 'discord_refused') &&
    error.answer !== undefined &&
    ![0, UNKNOWN_CHANNEL, ...LACKING, ...CURABLE].includes(error.answer.code)
  );
}

/** Errors of Discord and the disk. Any other error would repeat every time. */
function comesBack(error: unknown): boolean {
  return isThreadmuxError(error) || typeof (error as NodeJS.ErrnoException).errno === 'number';
}

export function createRetryLimit(options: RetryLimitOptions): RetryLimit {
  const { thread, log, signal, retryMs = RETRY_MS, lackingMs = LACKING_MS } = options;
  return async (act, instead) => {
    for (let refusals = 0; ; ) {
      try {
        return await act();
      } catch (error) {
        if (signal.aborted || refusedWith(error, UNKNOWN_CHANNEL) || !comesBack(error)) throw error;
        log.warn('a terminal could not be shown', { thread, because: explain(error) });
        if (refusedForGood(error)) refusals++;
        if (refusals >= TRIES && instead !== undefined) return instead();
        const waitMs = refusedWith(error, ...LACKING) ? lackingMs : retryMs;
        await sleep(waitMs, undefined, { signal });
      }
    }
  };
}
