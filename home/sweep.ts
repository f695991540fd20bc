// Removes files that are no longer needed: old attachments and status lines, unused answers, and remains of crashes. A pure function decides what to remove; a file that cannot be removed is tried again next time.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tryBestEffort } from './atomic-write.ts';
import { tryTo } from './checked-file.ts';
import type { Home } from './home.ts';

interface SweepableFile {
  /** The path below the home. */
  readonly name: string;
  /** When it was last written. */
  readonly at: number;
  readonly bytes: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** For all attachments together. */
const MOST_BYTES = 2 * 2 ** 30;
/** Younger files may be in use: a message waits up to a day for its host. */
const IN_USE_MS = 2 * DAY;

const AGE_MS: Readonly<Record<string, number>> = { files: 30 * DAY, status: 30 * DAY, answers: 30 * DAY };
const TEMP = /^\.(\d+|[\w-]{12}\.tmp)$|\.lock\.\d+\.[a-z\d]+$/;

/** The names of the files and folders to remove. */
export function filesToSweep(all: readonly SweepableFile[], now: number): readonly string[] {
  const isOld = ({ name, at }: SweepableFile) => {
    const [folder = '', file = ''] = name.split('/');
    const age = now - at;
    return age > (AGE_MS[folder] ?? Number.POSITIVE_INFINITY) || (TEMP.test(file) && age > HOUR);
  };
  const old = all.filter(isOld);
  const files = all.filter((one) => one.name.startsWith('files/') && !old.includes(one));
  let bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  const beyond: SweepableFile[] = [];
  for (const one of files.toSorted((a, b) => a.at - b.at)) {
    if (bytes <= MOST_BYTES || now - one.at < IN_USE_MS) break;
    beyond.push(one);
    bytes -= one.bytes;
  }
  return [...old, ...beyond].map(({ name }) => name);
}

const SWEPT = ['files', 'status', 'answers', 'state', 'threads', 'inbox', 'prompts'];

export function sweepHome(home: Home): void {
  const all = SWEPT.flatMap((folder) => namesIn(home.path(folder)).flatMap((name) => kept(home, `${folder}/${name}`)));
  for (const name of filesToSweep(all, Date.now()))
    tryBestEffort(home.path('swept'), () => rmSync(home.path(name), { recursive: true, force: true }));
}

/** A folder counts with the age and size of its files. */
function kept(home: Home, name: string): readonly SweepableFile[] {
  try {
    const stat = statSync(home.path(name));
    if (!stat.isDirectory()) return [{ name, at: stat.mtimeMs, bytes: stat.size }];
    const inside = namesIn(home.path(name)).map((file) => statSync(join(home.path(name), file)));
    const at = Math.max(stat.mtimeMs, ...inside.map(({ mtimeMs }) => mtimeMs));
    return [{ name, at, bytes: inside.reduce((sum, { size }) => sum + size, 0) }];
  } catch {
    return []; // removed in the meantime
  }
}

function namesIn(folder: string): readonly string[] {
  return tryTo(() => readdirSync(folder)) ?? [];
}
