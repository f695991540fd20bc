// The workspace's journal: one line per change, appended before the change is made. A line cut short by a crash is removed.
// Compaction writes a new file and renames it, so a crash at any moment leaves one complete journal.

import {
  closeSync,
  fdatasync,
  fsync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  write,
  writeSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { makeSnowflakes } from './message-log.ts';
import {
  applyRecord,
  emptyState,
  leanRecord,
  recordSchema,
  type StoreRecord,
  snapshot,
  type WorkspaceState,
} from './store.ts';

// The state and its journal: a change is written before it is made, and start-up replays all of them.
export interface Memory {
  readonly state: WorkspaceState;
  nextId(): string;
  commit(...records: readonly StoreRecord[]): void;
  close(): void;
}

/** A journal is compacted when it is twice as large as necessary, plus this. */
const FLOOR_BYTES = 32 * 1024;

export function openMemory(path: string, log: (line: string) => void): Memory {
  const state = emptyState();
  let entries = 0;
  const replay = (entry: unknown) => {
    const record = recordSchema.safeParse(entry);
    entries++;
    if (record.success) applyRecord(state, record.data);
    else log('A line of the journal was skipped: the workspace does not know this kind of entry.');
  };
  const journal = openJournal(path, replay, log);
  const needed = [...snapshot(state)].length / Math.max(1, entries);
  let compactAbove = limitFor(journal.size() * Math.min(1, needed));
  const compactIfLarge = () => {
    if (journal.size() <= compactAbove) return;
    compactAbove = Number.POSITIVE_INFINITY;
    // Stored messages are never modified, so the list stays correct while it is written.
    void journal.compact([...snapshot(state)]).then((bytes) => {
      compactAbove = limitFor(bytes ?? journal.size());
      compactIfLarge(); // much may have been appended meanwhile
    });
  };
  compactIfLarge();
  return {
    state,
    nextId: makeSnowflakes(state.lastId),
    commit(...records) {
      for (const record of records) {
        const lean = leanRecord(state, record);
        journal.append([lean]);
        applyRecord(state, lean);
      }
      compactIfLarge();
    },
    close: () => journal.close(),
  };
}

function limitFor(compactedBytes: number): number {
  return 2 * compactedBytes + FLOOR_BYTES;
}

interface Journal {
  append(entries: readonly unknown[]): void;
  /** Bytes on disk. */
  size(): number;
  /**
   * Replaces everything so far with these entries, which must produce the current state. Appending continues meanwhile.
   * Resolves with their size, or with undefined if it was not done; the journal is complete either way.
   */
  compact(entries: readonly unknown[]): Promise<number | undefined>;
  close(): void;
}

/** Entries per write: one or two milliseconds of work. */
const SLICE = 200;

/** Passes all entries to `replay`, in order. Lines that are not JSON are skipped. */
function openJournal(path: string, replay: (entry: unknown) => void, log: (line: string) => void): Journal {
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true }); // left by a crash during compaction
  const { keep, torn } = read(path, replay, log);
  if (torn > 0) {
    log(`The last line of the workspace's journal was cut short by a crash; ${torn} bytes were removed.`);
    truncateSync(path, keep);
  }
  let file = openSync(path, 'a', 0o600);
  let size = keep;
  let syncing = false;
  let closed = false;
  /** Appended since the compaction began. */
  let appended: Buffer[] | undefined;

  // A killed process loses nothing that was written. This protects against a power failure, so nothing waits for it.
  const sync = () => {
    if (syncing || closed) return;
    syncing = true;
    const [synced, upTo] = [file, size];
    fdatasync(synced, () => {
      syncing = false;
      if (synced !== file) closeSync(synced); // replaced meanwhile
      if (synced !== file || size > upTo) sync();
    });
  };

  /** Makes the new file the journal. Synchronous, so nothing can be appended in between. */
  function takeOver(target: number, written: number): void {
    const rest = Buffer.concat(appended ?? []);
    writeAll(target, rest);
    renameSync(unfinished, path);
    if (!syncing) closeSync(file);
    file = target;
    size = written + rest.length;
    sync();
  }

  return {
    size: () => size,
    append(added) {
      const bytes = linesOf(added);
      try {
        writeAll(file, bytes);
      } catch (error) {
        ftruncateSync(file, size); // a full disk: half a line would corrupt the next line
        throw error;
      }
      size += bytes.length;
      appended?.push(bytes);
      sync();
    },
    async compact(all) {
      if (appended !== undefined || closed) return undefined;
      appended = [];
      let target: number | undefined;
      try {
        target = openSync(unfinished, 'ax', 0o600);
        let written = 0;
        for (let at = 0; at < all.length && !closed; at += SLICE)
          written += await writeSoon(target, linesOf(all.slice(at, at + SLICE)));
        await fsyncSoon(target);
        if (closed) return undefined;
        takeOver(target, written);
        target = undefined;
        return written;
      } catch (error) {
        log(`The workspace's journal could not be compacted and stays unchanged: ${String(error)}`);
        return undefined;
      } finally {
        appended = undefined;
        if (target !== undefined) closeSync(target);
        if (target !== undefined && !closed) rmSync(unfinished, { force: true });
      }
    },
    close() {
      if (closed) return; // the descriptor may belong to another file by now
      closed = true;
      if (appended !== undefined) rmSync(unfinished, { force: true });
      fsyncSync(file);
      closeSync(file);
    },
  };
}

function read(path: string, replay: (entry: unknown) => void, log: (line: string) => void) {
  const bytes = readIfThere(path);
  const keep = bytes.lastIndexOf(0x0a) + 1;
  let number = 0;
  for (let at = 0; at < keep; ) {
    const end = bytes.indexOf(0x0a, at);
    const entry = parsed(bytes.toString('utf8', at, end));
    at = end + 1;
    number++;
    if (entry !== undefined) replay(entry);
    else log(`Line ${number} of the workspace's journal was skipped: it is not valid JSON.`);
  }
  return { keep, torn: bytes.length - keep };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // not JSON: the caller reports it
  }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

const fsyncSoon = promisify(fsync);
const writeOnce = promisify(write);

function linesOf(entries: readonly unknown[]): Buffer {
  return Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
}

/** One write may write only a part; a line must never stay incomplete. */
function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}

async function writeSoon(file: number, bytes: Buffer): Promise<number> {
  for (let at = 0; at < bytes.length; ) at += (await writeOnce(file, bytes, at)).bytesWritten;
  return bytes.length;
}
