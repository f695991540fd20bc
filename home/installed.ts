// What install did to which file, and the file as it was before: enough to give it back byte for byte. `folder` is state/ for
// the files of this machine, and state/hosts/<name>/ for those of another host.

import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { readJson, readText, writeJson, writeWhole } from './files.ts';

const entrySchema = z.object({
  path: z.string(),
  kind: z.enum(['settings', 'tmux']),
  /** The name of the copy in backups/; null: there was no such file. */
  backup: z.string().nullable(),
  /** The topmost folder we made for it. */
  madeFolder: z.string().nullable(),
  /** The file as we left it. */
  sha256: z.string(),
});

export type Installed = z.output<typeof entrySchema>;

export function loadInstalled(folder: string): readonly Installed[] {
  return readJson(join(folder, 'installed.json'), z.array(entrySchema)) ?? [];
}

/** The copy is there before the entry that names it, and goes after it. */
export function rememberInstalled(
  folder: string,
  entry: Pick<Installed, 'path' | 'kind' | 'madeFolder'>,
  texts: { readonly before: string | undefined; readonly after: string },
  now: Date = new Date(),
): void {
  const backup = texts.before === undefined ? null : backupName(entry.path, now);
  if (backup !== null && texts.before !== undefined) {
    mkdirSync(join(folder, 'backups'), { recursive: true, mode: 0o700 });
    writeWhole(join(folder, 'backups', backup), texts.before);
  }
  replaceEntry(folder, entry.path, { ...entry, backup, sha256: sha256(texts.after) });
}

export function forgetInstalled(folder: string, path: string): void {
  replaceEntry(folder, path, undefined);
}

/** The file as it was before us; undefined if there was none, or if the copy is lost. */
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

/** Its time and name for people; the hash of its path, because every settings file has the same name. */
function backupName(path: string, now: Date): string {
  const time = now.toISOString().replace(/[:.]/g, '-');
  return `${time}-${sha256(path).slice(0, 8)}-${basename(path)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
