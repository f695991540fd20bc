// Files here and on other hosts, read by position and written whole. Over ssh an ordinary read costs one exec: the end of
// the file comes with its size.

import { open, readFile, stat } from 'node:fs/promises';
import type { FileSource, OpenFile } from '../core/file-source.ts';
import { writeWhole } from '../home/files.ts';
import type { Host } from './host.ts';

export interface HostFiles extends FileSource {
  /** Undefined: there is no such file, or it is larger. */
  read(path: string, maxBytes: number): Promise<Buffer | undefined>;
  /** Under a temporary name, then renamed. */
  write(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
}

export function localFiles(): HostFiles {
  return {
    async open(path) {
      const file = await open(path, 'r').catch(() => undefined);
      if (file === undefined) return undefined;
      const { size } = await file.stat();
      if (!(await file.stat()).isFile()) {
        await file.close();
        return undefined;
      }
      return {
        size,
        sizeNow: async () => (await file.stat()).size,
        close: () => file.close(),
        async read(from, length) {
          const buffer = Buffer.allocUnsafe(length);
          for (let got = 0; got < length; ) {
            const { bytesRead } = await file.read(buffer, got, length - got, from + got);
            if (bytesRead === 0) return undefined;
            got += bytesRead;
          }
          return buffer;
        },
      };
    },
    async read(path, maxBytes) {
      const size = await stat(path).then(
        (found) => (found.isFile() ? found.size : undefined),
        () => undefined,
      );
      return size === undefined || size > maxBytes ? undefined : readFile(path);
    },
    async write(path, data, mode) {
      writeWhole(path, data, mode);
    },
  };
}

const TAIL_BYTES = 256 * 1024;

export function hostFiles(host: Host): HostFiles {
  async function range(path: string, from: number, length: number): Promise<Buffer | undefined> {
    const args = [path, String(from + 1), String(length)];
    const said = await host.sh(RANGE, args, { doing: 'read a file' });
    const data = Buffer.from(said.replace(/\s/g, ''), 'base64');
    return data.length === length ? data : undefined;
  }

  async function end(path: string, bytes: number) {
    const said = await host.sh(END, [path, String(bytes)], { doing: 'read a file' });
    const at = said.indexOf('\n');
    const size = Number(said.slice(0, at).trim() || Number.NaN);
    if (!Number.isSafeInteger(size)) return undefined;
    return { size, data: Buffer.from(said.slice(at + 1).replace(/\s/g, ''), 'base64') };
  }

  return {
    async open(path): Promise<OpenFile | undefined> {
      const tail = await end(path, TAIL_BYTES);
      if (tail === undefined) return undefined;
      // What was appended between the two commands there belongs to the next look.
      const data = tail.data.subarray(0, Math.min(tail.size, TAIL_BYTES));
      const first = tail.size - data.length;
      return {
        size: tail.size,
        sizeNow: async () => tail.size,
        close: async () => {},
        read: (from, length) =>
          from >= first
            ? Promise.resolve(data.subarray(from - first, from - first + length))
            : range(path, from, length),
      };
    },
    async read(path, maxBytes) {
      const found = await end(path, maxBytes);
      return found === undefined || found.size > maxBytes ? undefined : found.data;
    },
    async write(path, data, mode = 0o600) {
      await host.sh(WRITE, [path, mode.toString(8)], { input: data, doing: 'write a file' });
    },
  };
}

/** The size is taken first and the end counted from it: a file that grows meanwhile gives what it had. */
const END = `[ -f "$1" ] || exit 0; n=$(wc -c < "$1") || exit 0; n=$((n)); echo "$n"
s=$((n - $2)); [ $s -ge 0 ] || s=0
tail -c +$((s + 1)) < "$1" | head -c $((n - s)) | base64`;
const RANGE = `tail -c "+$2" < "$1" | head -c "$3" | base64`;
const WRITE = `umask 077; t=$1.$$.tmp; cat > "$t" && chmod "$2" "$t" && mv "$t" "$1" || { rm -f "$t"; exit 1; }`;
