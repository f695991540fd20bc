// Remembers which files `install` changed, with a backup of each, so that it can be restored byte for byte. `folder` is state/
// for the files of this machine, and state/hosts/<name>/ for those of another host.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { readJson, readText, writeJson, writeWhole } from './atomic-write.ts';
import type { Home } from './home.ts';

const entrySchema = z.object({
  path: z.string(),
  kind: z.enum(['settings', 'tmux', 'extension']),
  /** The name of the copy in backups/; null if the file did not exist. */
  backup: z.string().nullable(),
  /** The topmost folder that we created for it. */
  madeFolder: z.string().nullable(),
  /** The hash of the file as we wrote it. */
  sha256: z.string(),
});

export type Installed = z.output<typeof entrySchema>;

export function loadInstalled(folder: string): readonly Installed[] {
  return readJson(join(folder, 'installed.json'), z.array(entrySchema)) ?? [];
}

/** The backup is written before the entry that names it, and removed after it. */
export function rememberInstalled(
  folder: string,
  entry: Pick<Installed, 'path' | 'kind' | 'madeFolder'>,
  texts: { readonly before: string | undefined; readonly after: string },
): void {
  const backup = texts.before === undefined ? null : backupName(entry.path);
  if (backup !== null && texts.before !== undefined) {
    mkdirSync(join(folder, 'backups'), { recursive: true, mode: 0o700 });
    writeWhole(join(folder, 'backups', backup), texts.before);
  }
  replaceEntry(folder, entry.path, { ...entry, backup, sha256: sha256(texts.after) });
}

export function forgetInstalled(folder: string, path: string): void {
  replaceEntry(folder, path, undefined);
}

/** The file before the install; undefined if it did not exist, or if the backup is lost. */
export function beforeInstall(folder: string, { backup }: Installed): string | undefined {
  return backup === null ? undefined : readText(join(folder, 'backups', basename(backup)));
}

export function isAsWeLeftIt(entry: Installed, text: string): boolean {
  return entry.sha256 === sha256(text);
}

function replaceEntry(folder: string, path: string, entry: Installed | undefined): void {
  const all = loadInstalled(folder);
  const entries = [...all.filter((one) => one.path !== path), ...(entry ? [entry] : [])];
  const file = join(folder, 'installed.json');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (entries.length === 0) rmSync(file, { force: true });
  else writeJson(file, entries);
  for (const { path: one, backup } of all)
    if (one === path && backup !== null && backup !== entry?.backup)
      rmSync(join(folder, 'backups', basename(backup)), { force: true });
}

/** Contains a hash of the path, because every settings file has the same name. */
function backupName(path: string): string {
  const time = new Date().toISOString().replace(/[:.]/g, '-');
  return `${time}-${sha256(path).slice(0, 8)}-${basename(path)}`;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

// Whether every tmux session gets a thread, or only those whose hooks report. `threadmux auto on|off` decides; by default it is
// on where tmux reports its sessions (after `threadmux install`).

const schema = z.object({ on: z.boolean() });

/** `host` is a remote host, where tmux reports its sessions after `threadmux install --host`. */
export function loadAutoThreads(home: Home, host?: string): boolean {
  const tmuxReports = () =>
    host === undefined
      ? existsSync(home.path('tmux.conf'))
      : loadInstalled(home.path('state', 'hosts', host)).some(({ kind }) => kind === 'tmux');
  return readJson(home.path('state', 'auto.json'), schema)?.on ?? tmuxReports();
}

export function saveAutoThreads(home: Home, on: boolean): void {
  writeJson(join(home.folder('state'), 'auto.json'), { on });
}
