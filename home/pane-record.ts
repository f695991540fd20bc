// What the hooks last reported of a thread's pane, one file a thread. The bridge types into this
// pane and no other, here or, read over ssh, on another host.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';

export const paneRecordSchema = z.object({
  thread: z.string(),
  /** The name of the server in the configuration. */
  server: z.string().default(''),
  host: z.string(),
  socket: z.string(),
  serverPid: z.number(),
  paneId: z.string(),
  panePid: z.number(),
  sessionId: z.string(),
  sessionName: z.string(),
  /** The program in the foreground when the hook ran: the agent. */
  command: z.string(),
  cwd: z.string(),
  claudeSession: z.string(),
  transcript: z.string(),
  state: z.enum(['working', 'waiting', 'idle', 'ended']),
  /** Not an agent but a plain shell, one we started on the person's order or one that was there; or a terminal that streams. */
  shell: z.enum(['no', 'ours', 'found', 'terminal']).default('no'),
  at: z.number(),
});
export type PaneRecord = Readonly<z.output<typeof paneRecordSchema>>;

export function savePaneRecord(home: Home, record: PaneRecord): void {
  writeJson(join(home.folder('panes'), `${record.thread}.json`), record);
}

export function loadPaneRecord(home: Home, thread: string): PaneRecord | undefined {
  return readJson(home.path('panes', `${thread}.json`), paneRecordSchema);
}

export function loadPaneRecords(home: Home): readonly PaneRecord[] {
  const folder = home.folder('panes');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readJson(join(folder, name), paneRecordSchema) ?? []);
}

export function forgetPaneRecord(home: Home, thread: string): void {
  rmSync(home.path('panes', `${thread}.json`), { force: true });
}
