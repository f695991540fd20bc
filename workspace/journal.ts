// The workspace's memory: one line a change, only ever appended to. A line torn by a crash is cut off; nothing else is lost.

import {
  closeSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { writeWhole } from '../home/files.ts';

export interface Journal {
  /** What was there at the start, in order. Lines that are no JSON are left out. */
  readonly entries: readonly unknown[];
  append(entries: readonly unknown[]): void;
  /** Puts these in the place of everything. Only at the start, before the first append. */
  rewrite(entries: Iterable<unknown>): void;
  close(): void;
}

export function openJournal(path: string, log: (line: string) => void): Journal {
  const { entries, keep, torn } = read(path, log);
  if (torn > 0) {
    log(
      `The last line of the workspace's journal was torn by a crash; ${torn} bytes were cut off.`,
    );
    truncateSync(path, keep);
  }
  let file = openSync(path, 'a', 0o600);
  let size = keep;
  let syncing = false;
  let closed = false;
  // A killed process loses nothing that was written; this guards against a power cut, and need not be waited for.
  const sync = () => {
    if (syncing || closed) return;
    syncing = true;
    const upTo = size;
    fdatasync(file, () => {
      syncing = false;
      if (size > upTo) sync();
    });
  };
  return {
    entries,
    append(added) {
      const bytes = Buffer.from(added.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
      try {
        writeAll(file, bytes);
      } catch (error) {
        ftruncateSync(file, size); // a full disk: half a line would spoil the next whole one
        throw error;
      }
      size += bytes.length;
      sync();
    },
    rewrite(all) {
      closeSync(file);
      writeWhole(path, Array.from(all, (entry) => `${JSON.stringify(entry)}\n`).join(''));
      file = openSync(path, 'a', 0o600);
      size = fstatSync(file).size;
    },
    close() {
      closed = true;
      fsyncSync(file);
      closeSync(file);
    },
  };
}

function read(path: string, log: (line: string) => void) {
  const bytes = readIfThere(path);
  const keep = bytes.lastIndexOf(0x0a) + 1;
  const lines = bytes.subarray(0, keep).toString('utf8').split('\n').slice(0, -1);
  const entries = lines.flatMap((line, index) => {
    try {
      return [JSON.parse(line) as unknown];
    } catch {
      log(`Line ${index + 1} of the workspace's journal is not readable and was passed over.`);
      return [];
    }
  });
  return { entries, keep, torn: bytes.length - keep };
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** One write may take less than all of it; a line must never be left half-written by us. */
function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}
