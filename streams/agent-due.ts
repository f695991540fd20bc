// What a turn has still to say, on disk before any of it is said: after a restart the rest of it is said, and nothing
// twice, because what is shown is noted beside it.

import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { discard, keep } from '../home/keep.ts';
import { streamFolder } from '../home/stream-record.ts';
import type { Open, Part } from './show.ts';

const fileSchema = z.object({
  name: z.string(),
  data: z.base64().transform((text) => new Uint8Array(Buffer.from(text, 'base64'))),
});
const dueSchema = z.object({
  /** The prompt. */
  id: z.string(),
  startedAt: z.number(),
  parts: z.array(z.object({ content: z.string(), files: z.array(fileSchema).exactOptional() })),
  /** How it ended, in a message of its own. */
  words: z.string(),
  silent: z.boolean(),
  turn: z.object({
    kind: z.enum(['done', 'failed', 'stopped']),
    because: z.string().exactOptional(),
  }),
});
const notedSchema = z.object({
  id: z.string(),
  shown: z.array(z.object({ id: z.string(), content: z.string() }).nullable()),
});

type Stored = Readonly<z.output<typeof dueSchema>>;
export interface Due extends Omit<Stored, 'parts'> {
  readonly parts: readonly Part[];
  readonly shown: Shown;
}
/** The messages that show the parts, as far as there are any; null: somebody has deleted it. */
export type Shown = readonly (Open | null | undefined)[];

interface DueFile {
  load(): Due | undefined;
  save(due: Due): void;
  /** What is shown now; apart from the rest, which may be large. */
  note(due: Due, shown: Shown): void;
  remove(): void;
}

export function openDueFile(home: Home, thread: string): DueFile {
  const path = (name: string) => join(streamFolder(home, thread), name);
  const note = ({ id }: Due, shown: Shown) =>
    keep(path('due-shown.json'), { id, shown: Array.from(shown, (one) => one ?? null) });
  return {
    load() {
      const due = readJson(path('due.json'), dueSchema);
      const noted = readJson(path('due-shown.json'), notedSchema);
      return due && { ...due, shown: noted?.id === due.id ? noted.shown : [] };
    },
    save(due) {
      note(due, due.shown);
      const { shown: _, ...rest } = due;
      keep(path('due.json'), { ...rest, parts: due.parts.map(storedPart) });
    },
    note,
    remove() {
      for (const name of ['due.json', 'due-shown.json']) discard(path(name));
    },
  };
}

function storedPart({ content, files }: Part) {
  const stored = files?.map(({ name, data }) => ({
    name,
    data: Buffer.from(data).toString('base64'),
  }));
  return { content, ...(stored === undefined ? {} : { files: stored }) };
}
