// The record of a stream (a terminal or a headless agent): `streams/<thread>/stream.json`. The code that runs the stream keeps
// its other files in the same folder; without `stream.json` there is no stream.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './atomic-write.ts';
import type { Home } from './home.ts';

export const streamRecordSchema = z.object({
  thread: z.string().regex(/^\d+$/),
  /** The name of the server in the configuration. */
  server: z.string(),
  kind: z.enum(['terminal', 'agent']),
  /** For a terminal, also the name of its tmux session. */
  name: z.string(),
  /** The working directory: absolute, with all links resolved. */
  dir: z.string(),
  /** The command line, or the first prompt. */
  asked: z.string(),
  /** The message or interaction that started it: if it is handled twice, only one stream is started. */
  order: z.string(),
  /** A headless agent that runs without asking for permission. */
  skipPermissions: z.boolean().default(false),
  /** The name of a headless agent; undefined for that of before there were several. */
  agent: z.string().exactOptional(),
  startedAt: z.number(),
  /** On another host: the host, and the folder of a terminal’s log there. */
  far: z.object({ host: z.string(), logFolder: z.string() }).exactOptional(),
  /** The pane of a terminal. */
  pane: z
    .object({
      socket: z.string(),
      serverPid: z.number(),
      sessionId: z.string(),
      paneId: z.string(),
      panePid: z.number(),
    })
    .optional(),
  /** Set when the program has ended and the thread was told. */
  ended: z.object({ at: z.number(), how: z.string() }).optional(),
});
export type StreamRecord = Readonly<z.output<typeof streamRecordSchema>>;

/** The stream's folder, created if it does not exist. */
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
  return readdirSync(home.folder('streams')).flatMap((thread) => loadStreamRecord(home, thread) ?? []);
}

export function forgetStream(home: Home, thread: string): void {
  rmSync(home.path('streams', thread), {
    recursive: true,
    force: true,
    maxRetries: 5, // a process may still write its log
    retryDelay: 50,
  });
}
