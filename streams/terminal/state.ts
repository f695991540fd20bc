// Where a terminal's thread stands, on disk. Written only after everything it says was posted: whoever goes on from it
// repeats some work, but loses nothing.

import { closeSync, openSync, readdirSync, readSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../../home/whole-file.ts';
import { emulatorScreenSchema } from '../emulator/screen-state.ts';
import { positionSchema } from './log.ts';

// MERGED(streams/terminal/text-store.ts): The text of a terminal that changes no more, on disk: for the files that are attached, and to go on after a restart.
// Capped: the oldest text goes. Positions count bytes from the beginning of the text, whether or not it is still there.
const storedTextSchema = z.object({ base: z.number(), length: z.number() });
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

const floodSchema = z.object({
  /** Of all that is not shown line by line. */
  lines: z.number(),
  /** Of those that were attached or, being too many, dropped. */
  before: z.number(),
  files: z.number(),
});
/** Lines that come too fast are counted, and attached in the end. */

const terminalStateSchema = z.object({
  position: positionSchema,
  emulator: z.object({
    size: z.object({ width: z.number(), height: z.number() }),
    screen: emulatorScreenSchema,
    inside: z.enum(['nothing', 'title', 'string', 'sequence']),
    marks: z.number().default(0),
    carry: z.string(),
    inLine: z.boolean(),
  }),
  text: storedTextSchema,
  /** Lines of the text so far. */
  lines: z.number(),
  /** Where in the text the first message that may still change begins. */
  from: z.number(),
  /** Messages that may still change. */
  open: z.array(z.object({ id: z.string(), content: z.string() })),
  /** How far from there messages end because somebody wrote between them, in characters. */
  cuts: z.array(z.number()).default([]),
  /** The newest message of ours; empty before the first. */
  last: z.string(),
  /** How many messages were posted. */
  posted: z.number(),
  flood: floodSchema.optional(),
  flooded: z.boolean(),
  /** All output is posted; only its end is to be told. */
  finished: z.boolean(),
});
export type TerminalState = Readonly<z.output<typeof terminalStateSchema>>;

export function loadTerminalState(folder: string): TerminalState | undefined {
  return readJson(join(folder, 'state.json'), terminalStateSchema);
}

/** Never blocks: with many terminals a disk that is slow would hold up everything else. */
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
