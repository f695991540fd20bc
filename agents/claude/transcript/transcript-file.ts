// Reads the lines of a growing file backwards from its end. The cost depends on how far the caller reads, not on the size of
// the file; only complete lines are returned, and at most one line and one chunk are in memory.

import { setTimeout as sleep } from 'node:timers/promises';
import { type FileSource, localFileSource } from '../../../home/file-source.ts';

type TailLine =
  | { readonly kind: 'line'; readonly text: string }
  /** A line longer than the limit: its content was skipped. */
  | { readonly kind: 'too-long'; readonly bytes: number }
  /** The file became shorter while it was read: earlier lines cannot be trusted, and no more lines follow. */
  | { readonly kind: 'shrunk' };

export interface TailOptions {
  readonly chunkBytes?: number;
  readonly maxLineBytes?: number;
  /** Where the file is; by default this machine. */
  readonly files?: FileSource | undefined;
}

const NEWLINE = 0x0a;
/** No line is this long, also not with empty lines around it: lines before one are not read. */
const LONGEST_LINE = 64 * 1024 * 1024;
/** Millions of empty lines would take long, too. */
const EMPTY_LINE_COSTS = 100;
const BYTE_ORDER_MARK = /^\ufeff/;

/** Starts with the last line. A last line without a newline is still being written and is skipped. A missing file has no lines. */
export async function* linesBackwards(
  path: string,
  options: TailOptions = {},
): AsyncGenerator<TailLine, void, undefined> {
  const { chunkBytes = 64 * 1024, maxLineBytes = 32 * 1024 * 1024 } = options;
  const file = await (options.files ?? localFileSource).open(path);
  if (file === undefined) return;
  try {
    let line: Pending | undefined;
    let unbroken = 0;
    for (let end = file.size; end > 0; ) {
      const start = Math.max(0, end - chunkBytes);
      const chunk = await file.read(start, end - start);
      if (chunk === undefined) return yield { kind: 'shrunk' };
      let to = chunk.length;
      while (to > 0) {
        const at = chunk.lastIndexOf(NEWLINE, to - 1);
        if (line !== undefined) line = prepended(line, chunk.subarray(at + 1, to), maxLineBytes);
        unbroken += at < 0 ? to : Math.max(EMPTY_LINE_COSTS, to - at);
        if (at < 0) break;
        if (line !== undefined && line.bytes > 0) {
          unbroken = 0;
          yield* finished(line);
        }
        line = EMPTY;
        to = at;
      }
      // A hostile host may claim any size, and this would never end.
      if (unbroken > LONGEST_LINE) return yield { kind: 'too-long', bytes: unbroken };
      end = start;
    }
    if (line !== undefined) yield* finished(line);
  } finally {
    await file.close();
  }
}

/** The end of a line whose beginning has not been read yet, with the pieces in file order. */
interface Pending {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
}

const EMPTY: Pending = { pieces: [], bytes: 0 };

function prepended(line: Pending, piece: Buffer, maxBytes: number): Pending {
  const bytes = line.bytes + piece.length;
  return { pieces: bytes > maxBytes ? [] : [piece, ...line.pieces], bytes };
}

function* finished(line: Pending): Generator<TailLine> {
  if (line.bytes === 0) return;
  if (line.pieces.length === 0) return yield { kind: 'too-long', bytes: line.bytes };
  const text = Buffer.concat(line.pieces).toString('utf8').replace(BYTE_ORDER_MARK, '');
  yield { kind: 'line', text: text.endsWith('\r') ? text.slice(0, -1) : text };
}

// Waits until a transcript stops growing and ends in a complete line, for versions of Claude Code that call Stop before the
// reply is written. The file is polled: the wait is short, and a watcher starts slower and does not work on network drives.

interface SettleOptions {
  /** How long the file must stay unchanged. */
  readonly quietMs?: number;
  readonly deadlineMs?: number;
  readonly pollMs?: number;
  /** Where the file is; by default this machine. */
  readonly files?: FileSource | undefined;
}

/** True once the file is unchanged and ends in a complete line; false if that did not happen in time. */
export async function waitUntilSettled(path: string, options: SettleOptions = {}): Promise<boolean> {
  const { quietMs = 250, deadlineMs = 5_000, pollMs = 50, files = localFileSource } = options;
  const deadline = performance.now() + deadlineMs;
  let seen = await lookAt(files, path);
  let since = performance.now();
  try {
    for (;;) {
      if (seen?.endsInLine && performance.now() - since >= quietMs) return true;
      if (performance.now() >= deadline) return false;
      await sleep(pollMs);
      if (seen !== undefined && (await seen.file.sizeNow()) === seen.file.size) continue;
      await seen?.file.close();
      seen = await lookAt(files, path);
      since = performance.now();
    }
  } finally {
    await seen?.file.close();
  }
}

async function lookAt(files: FileSource, path: string) {
  const file = await files.open(path);
  if (file === undefined) return undefined;
  const end = file.size === 0 ? undefined : await file.read(file.size - 1, 1);
  return { file, endsInLine: end?.[0] === 0x0a };
}
