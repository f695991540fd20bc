// What a turn has still to say, on disk before any of it is said: after a restart the rest of it is said, and nothing
// twice, because what is shown is noted beside it.

import { join } from 'node:path';
import * as z from 'zod';
import type { Home } from '../../home/home.ts';
import { streamFolder } from '../../home/stream-record.ts';
import { readJson, removeBestEffort, writeBestEffort } from '../../home/whole-file.ts';
import type { OpenStreamMessage, StreamPart } from '../post-stream.ts';

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
export interface UnpostedTurn extends Omit<Stored, 'parts'> {
  readonly parts: readonly StreamPart[];
  readonly shown: PostedTurn;
}
/** The messages that show the parts, as far as there are any; null: somebody has deleted it. */
export type PostedTurn = readonly (OpenStreamMessage | null | undefined)[];

interface UnpostedFile {
  load(): UnpostedTurn | undefined;
  save(due: UnpostedTurn): void;
  /** What is shown now; apart from the rest, which may be large. */
  note(due: UnpostedTurn, shown: PostedTurn): void;
  remove(): void;
}

export function openUnpostedFile(home: Home, thread: string): UnpostedFile {
  const path = (name: string) => join(streamFolder(home, thread), name);
  const note = ({ id }: UnpostedTurn, shown: PostedTurn) =>
    writeBestEffort(path('due-shown.json'), { id, shown: Array.from(shown, (one) => one ?? null) });
  return {
    load() {
      const due = readJson(path('due.json'), dueSchema);
      const noted = readJson(path('due-shown.json'), notedSchema);
      return due && { ...due, shown: noted?.id === due.id ? noted.shown : [] };
    },
    save(due) {
      note(due, due.shown);
      const { shown: _, ...rest } = due;
      writeBestEffort(path('due.json'), { ...rest, parts: due.parts.map(storedPart) });
    },
    note,
    remove() {
      for (const name of ['due.json', 'due-shown.json']) removeBestEffort(path(name));
    },
  };
}

function storedPart({ content, files }: StreamPart) {
  const stored = files?.map(({ name, data }) => ({
    name,
    data: Buffer.from(data).toString('base64'),
  }));
  return { content, ...(stored === undefined ? {} : { files: stored }) };
}
