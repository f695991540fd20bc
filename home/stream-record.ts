// A thread that streams: a terminal or a headless agent, one folder each, `streams/<thread>/`. Whoever
// follows it keeps the rest of what it needs in the same folder; without `stream.json` there is no stream.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';

export const streamRecordSchema = z.object({
  thread: z.string().regex(/^\d+$/),
  /** The name of the server in the configuration. */
  server: z.string(),
  kind: z.enum(['terminal', 'agent']),
  /** Of the tmux session, too, if it is a terminal. */
  name: z.string(),
  /** Where it works: absolute, with every link resolved. */
  dir: z.string(),
  /** What was asked for: the command line, or the first prompt. */
  asked: z.string(),
  /** The message or interaction that ordered it: asked for twice, it is still one. */
  order: z.string(),
  /** A headless agent that was told to ask for no permission. */
  skipPermissions: z.boolean().default(false),
  startedAt: z.number(),
  /** A terminal on another host: where it runs, and the folder of its log there. */
  far: z.object({ host: z.string(), logFolder: z.string() }).exactOptional(),
  /** A terminal's pane. */
  pane: z
    .object({
      socket: z.string(),
      serverPid: z.number(),
      sessionId: z.string(),
      paneId: z.string(),
      panePid: z.number(),
    })
    .optional(),
  /** A program that has ended, and was reported to have. */
  ended: z.object({ at: z.number(), how: z.string() }).optional(),
});
export type StreamRecord = Readonly<z.output<typeof streamRecordSchema>>;

/** A stream's own folder, made if it is not there. */
export function streamFolder(home: Home, thread: string): string {
  return home.folder('streams', thread);
}

export function saveStreamRecord(home: Home, record: StreamRecord): void {
  writeJson(join(streamFolder(home, record.thread), 'stream.json'), record);
}

export function loadStreamRecord(home: Home, thread: string): StreamRecord | undefined {
  return readJson(home.path('streams', thread, 'stream.json'), streamRecordSchema);
}

export function loadStreamRecords(home: Home): readonly StreamRecord[] {
  return readdirSync(home.folder('streams')).flatMap(
    (thread) => loadStreamRecord(home, thread) ?? [],
  );
}

export function forgetStream(home: Home, thread: string): void {
  rmSync(home.path('streams', thread), {
    recursive: true,
    force: true,
    maxRetries: 5, // a log may still be written to
    retryDelay: 50,
  });
}
