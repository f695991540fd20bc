// Reads and writes files on this machine and on other hosts, byte for byte. On a host, `dd` reads a range: it seeks, so the
// cost does not depend on the size of the file.

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { writeWhole } from '../home/atomic-write.ts';
import { type FileSource, localFileSource, type OpenFile } from '../home/file-source.ts';
import type { Host } from './host.ts';

interface Window {
  readonly from: number;
  readonly bytes: Buffer;
}

/** The last part of a file, as it was when it was read. */
export interface FileEnd extends Window {
  readonly id: string;
  /** The size of the whole file. */
  readonly size: number;
}

export interface HostFiles extends FileSource {
  /** A file source whose first opening of this path needs no call to the host, because the end of the file is known. */
  knowing(path: string, end: FileEnd | undefined): FileSource;
  /** Undefined unless it is a regular file; rejects if it is larger or changes meanwhile. */
  read(path: string, maxBytes: number): Promise<Buffer | undefined>;
  /** Writes atomically; only the owner can read the file unless a mode is given. */
  write(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
}

const BLOCK = 32 * 1024;
/** How much `open` reads, and how much a read outside of that reads at least. */
const FIRST_BYTES = 256 * 1024;
const MORE_BYTES = 1024 * 1024;
const PIECE = 8 * 1024 * 1024;

export function localFiles(): HostFiles {
  return {
    ...localFileSource,
    knowing: () => localFileSource,
    read: (path, maxBytes) => readAll(localFileSource, path, maxBytes),
    write: async (path, data, mode) => writeWhole(path, data, mode),
  };
}

export function hostFiles(host: Host): HostFiles {
  const source: FileSource = { open: (path) => openThere(host, path) };
  return {
    ...source,
    knowing(known, end) {
      let next = end;
      return {
        open(path) {
          if (path !== known || next === undefined) return source.open(path);
          const first = next;
          next = undefined;
          return openThere(host, path, first);
        },
      };
    },
    read: (path, maxBytes) => readAll(source, path, maxBytes),
    async write(path, data, mode = 0o600) {
      const bytes = Buffer.from(data as Uint8Array);
      await host.sh(WRITE, [absolute(path), String(bytes.length), mode.toString(8)], {
        doing: `write ${untrustedCode(path)}`,
        input: bytes,
      });
    },
  };
}

async function readAll(source: FileSource, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const file = await source.open(path);
  if (file === undefined) return undefined;
  try {
    if (file.size > maxBytes)
      throw new ThreadmuxError('disk_failed', `${untrustedCode(path)} is larger than ${maxBytes} bytes`);
    const pieces: Buffer[] = [];
    for (let from = 0; from < file.size; from += PIECE) {
      const piece = await file.read(from, Math.min(PIECE, file.size - from));
      if (piece === undefined)
        throw new ThreadmuxError('disk_failed', `${untrustedCode(path)} changed while it was read`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  } finally {
    await file.close();
  }
}

async function openThere(host: Host, path: string, known?: FileEnd): Promise<OpenFile | undefined> {
  const call = async (script: string, ...args: readonly number[]) => {
    const words = [absolute(path), ...args.map(String)];
    const output = await host.sh(script, words, {
      doing: `read ${untrustedCode(path)}`,
      encoding: 'latin1',
      maxBytes: PIECE + 2 * MORE_BYTES,
    });
    const [line = ''] = output.split('\n', 1);
    const [id = '', size = ''] = line.split(' ');
    return { id, size: Number(size), bytes: Buffer.from(output.slice(line.length + 1), 'latin1') };
  };
  const first = known ?? (await call(OPEN, FIRST_BYTES / BLOCK));
  if (first.id === '') return undefined;
  const { size } = first;
  let window: Window = known ?? { from: firstBlock(size) * BLOCK, bytes: first.bytes };

  return {
    size,
    async sizeNow() {
      const now = await call(SIZE);
      return now.id === first.id ? now.size : 0;
    },
    async read(from, length) {
      const to = from + length;
      if (from < window.from || to > window.from + window.bytes.length) {
        // Files are read backwards from their end, so read more bytes before the range as well.
        const block = Math.floor(Math.max(0, Math.min(from, to - MORE_BYTES)) / BLOCK);
        const next = await call(RANGE, block, Math.ceil(to / BLOCK) - block);
        if (next.id !== first.id || next.size < size) return undefined;
        window = { from: block * BLOCK, bytes: next.bytes };
      }
      const bytes = window.bytes.subarray(from - window.from, to - window.from);
      return bytes.length === length ? bytes : undefined;
    },
    async close() {},
  };
}

/** Must match OPEN. */
function firstBlock(size: number): number {
  return Math.max(0, Math.ceil(size / BLOCK) - FIRST_BYTES / BLOCK);
}

function absolute(path: string): string {
  if (!path.startsWith('/')) throw new RangeError(`${path} is not an absolute path`);
  return path;
}

/** Prints "inode size", or an empty line if there is no readable regular file. */
const LOOK = `look() {
  found=$(LC_ALL=C ls -lniL "$1" 2> /dev/null) && [ -f "$1" ] && [ -r "$1" ] || { echo; exit 0; }
  IFS=' '
  set -f
  set -- $found
  echo "$1 $6"
  size=$6
}
`;
const SIZE = `${LOOK}look "$1"`;
const OPEN = `${LOOK}look "$1"
skip=$(((size + ${BLOCK - 1}) / ${BLOCK} - $2))
[ $skip -gt 0 ] || skip=0
dd if="$1" bs=${BLOCK} skip=$skip count="$2" 2> /dev/null`;
const RANGE = `${LOOK}look "$1"
dd if="$1" bs=${BLOCK} skip="$2" count="$3" 2> /dev/null`;
const WRITE = `umask 077
new=$(dirname "$1")/.threadmux.$$
fail() { rm -f "$new"; echo "$1" >&2; exit 1; }
cat > "$new" || fail 'it could not be written'
[ $(($(wc -c < "$new"))) -eq "$2" ] || fail 'only a part of it arrived'
chmod "$3" "$new" && mv -f "$new" "$1" || fail 'it could not be renamed'`;
