// Reads files that grow while they are read, on this machine or on another.

import { type FileHandle, open, stat } from 'node:fs/promises';
import { AT_ONCE } from './checked-file.ts';

export interface OpenFile {
  readonly size: number;
  /** Undefined if the file has become shorter since it was opened, or was replaced. */
  read(from: number, length: number): Promise<Buffer | undefined>;
  /** Zero if the file was removed or replaced. */
  sizeNow(): Promise<number>;
  close(): Promise<void>;
}

export interface FileSource {
  /** Undefined unless there is a readable regular file. */
  open(path: string): Promise<OpenFile | undefined>;
}

export const localFileSource: FileSource = {
  async open(path) {
    const file = await open(path, AT_ONCE).catch(() => undefined);
    if (file === undefined) return undefined;
    const opened = await file.stat();
    const { size, ino } = opened;
    if (!opened.isFile()) {
      await file.close();
      return undefined;
    }
    return {
      size,
      async sizeNow() {
        const now = await stat(path).catch(() => undefined);
        return now?.ino === ino ? now.size : 0;
      },
      async read(from, length) {
        const bytes = await readWhole(file, from, length);
        // The handle stays with the opened file, so a replacement of the file is never mixed in.
        return bytes === undefined || (await file.stat()).size < size ? undefined : bytes;
      },
      close: () => file.close(),
    };
  },
};

async function readWhole(file: FileHandle, from: number, length: number) {
  const buffer = Buffer.allocUnsafe(length);
  for (let got = 0; got < length; ) {
    const { bytesRead } = await file.read(buffer, got, length - got, from + got);
    if (bytesRead === 0) return undefined;
    got += bytesRead;
  }
  return buffer;
}
