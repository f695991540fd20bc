// Reads the lines of a growing file backwards from its end. The cost depends on how far the caller reads, not on the size of
// the file; only complete lines are returned, and at most one line and one chunk are in memory.

import type { FileSource } from '../../../core/file-source.ts';
import { localFileSource } from '../../../home/local-file.ts';

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
/** No line is this long: lines before one are not read. */
const LONGEST_LINE = 64 * 1024 * 1024;
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
        unbroken = at < 0 ? unbroken + to : 0;
        if (at < 0) break;
        if (line !== undefined) yield* finished(line);
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
