// The text of a terminal that changes no more, on disk: for the files that are attached, and to go on after a restart.
// Capped: the oldest text goes. Positions count bytes from the beginning of the text, whether or not it is still there.

import { closeSync, openSync, readdirSync, readSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';

export const storedTextSchema = z.object({ base: z.number(), length: z.number() });
/** The text from `base` to `length` is kept. */
type StoredText = Readonly<z.output<typeof storedTextSchema>>;

export interface TextStore {
  /** All of it or, when it throws, nothing: it can be tried again. */
  append(text: string): void;
  kept(): StoredText;
  slice(from: number, to: number): Buffer;
  /** Lets the oldest text go if there is too much; never what comes after `needed`. */
  cap(needed: number): void;
  /** What was kept before, and was not noted to be kept, goes for good. */
  settle(): void;
  /** Resolves when a loss of power takes nothing of it away any more. */
  sync(): Promise<void>;
  /** There is no more use for it. */
  remove(): void;
}

/** `noted` is what a state says; what was appended after it was written is cut off again. */
export function openTextStore(folder: string, noted: StoredText | undefined, maxBytes: number): TextStore {
  let { base, length } = noted ?? { base: 0, length: 0 };
  let synced = false;
  const pathFrom = (start: number) => join(folder, `text-${start}`);
  const path = () => pathFrom(base);
  const settle = () => {
    for (const name of readdirSync(folder))
      if (name.startsWith('text-') && join(folder, name) !== path()) rmSync(join(folder, name), { force: true });
  };
  writeFileSync(path(), '', { flag: 'a', mode: 0o600 });
  truncateSync(path(), length - base);
  const slice = (from: number, to: number) => {
    const buffer = Buffer.alloc(Math.max(0, to - Math.max(from, base)));
    const fd = openSync(path(), 'r');
    try {
      readSync(fd, buffer, 0, buffer.length, Math.max(from, base) - base);
    } finally {
      closeSync(fd);
    }
    return buffer;
  };
  return {
    append(text) {
      if (text === '') return;
      const bytes = Buffer.from(text);
      const fd = openSync(path(), 'r+');
      try {
        // By position: what an attempt that failed left behind is written over.
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, length - base + at);
      } finally {
        closeSync(fd);
      }
      length += bytes.length;
      synced = false;
    },
    kept: () => ({ base, length }),
    slice,
    cap(needed) {
      if (length - base <= 2 * maxBytes) return;
      const from = Math.min(length - maxBytes, needed);
      if (from <= base) return;
      const rest = slice(from, length);
      const start = characterStart(rest);
      writeFileSync(pathFrom(from + start), rest.subarray(start), { mode: 0o600 });
      base = from + start;
      synced = false;
    },
    settle,
    async sync() {
      if (synced) return;
      const file = await open(path(), 'r+');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
      synced = true;
    },
    remove: () => rmSync(path(), { force: true }),
  };
}

/** A cut may have left the end of a character at the beginning. */
function characterStart(bytes: Uint8Array): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, start);
}
