// The state of a terminal and its text, on disk. The state is written only after everything it describes was posted: a process
// that continues from it repeats some work but loses nothing.

import { closeSync, openSync, readdirSync, readSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../../home/atomic-write.ts';
import { snapshotSchema } from '../emulator/snapshot.ts';
import { positionSchema } from './log.ts';

// The text that can no longer change, for attached files and for a restart. Only the newest part is kept. Positions count
// bytes from the beginning of the text, even if that part is no longer kept.
const storedTextSchema = z.object({ base: z.number(), length: z.number() });
/** The text from `base` to `length` is kept. */
type StoredText = Readonly<z.output<typeof storedTextSchema>>;

export interface TextStore {
  /** Appends all of the text or, if it throws, nothing: the caller can try again. */
  append(text: string): void;
  kept(): StoredText;
  slice(from: number, to: number): Buffer;
  /** Drops the oldest text if there is too much, but never anything after `needed`. */
  cap(needed: number): void;
  /** Removes files that the saved state no longer refers to. */
  settle(): void;
  /** Resolves when a power failure can no longer lose any of it. */
  sync(): Promise<void>;
  remove(): void;
}

/** `noted` is what the saved state says. Text that was appended after it was saved is cut off. */
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
        // Written by position: this overwrites what a failed attempt left behind.
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

/** A cut may have left the last bytes of a character at the beginning. */
function characterStart(bytes: Uint8Array): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return Math.max(0, start);
}

const floodSchema = z.object({
  /** All lines that are not shown as messages. */
  lines: z.number(),
  /** Of these, the lines that were already attached or dropped because there were too many. */
  before: z.number(),
  files: z.number(),
});

const terminalStateSchema = z.object({
  position: positionSchema,
  emulator: snapshotSchema,
  text: storedTextSchema,
  /** Lines of the text so far. */
  lines: z.number(),
  /** Where in the text the first message that may still change begins. */
  from: z.number(),
  /** Messages that may still change. */
  open: z.array(z.object({ id: z.string(), content: z.string() })),
  /** Where messages end because someone wrote between them, in characters after `from`. */
  cuts: z.array(z.number()).default([]),
  /** Our newest message; empty before the first one. */
  last: z.string(),
  /** How many messages were posted. */
  posted: z.number(),
  flood: floodSchema.optional(),
  flooded: z.boolean(),
  /** All output is posted; only the end remains to be reported. */
  finished: z.boolean(),
});
export type TerminalState = Readonly<z.output<typeof terminalStateSchema>>;

export function loadTerminalState(folder: string): TerminalState | undefined {
  return readJson(join(folder, 'state.json'), terminalStateSchema);
}

/** Asynchronous: with many terminals, a slow disk would otherwise block everything else. */
export async function saveTerminalState(folder: string, state: TerminalState): Promise<void> {
  const temp = join(folder, '.state.tmp');
  const file = await open(temp, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(state)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temp, join(folder, 'state.json'));
}
