// Builds once before the tests, if a source file has changed: tests that start real processes start the compiled ones.
// Types are checked by `npm run check`. Temporary folders are in memory where that is possible: tests write many small files,
// and would mostly wait for the disk.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import build from '../../tsconfig.build.json' with { type: 'json' };

const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 30;

export default function setup(): (() => void) | undefined {
  buildIfChanged();
  if (tmpdir().startsWith(MEMORY)) return undefined; // vitest calls this once per project
  const folder = memoryFolder();
  if (folder === undefined) return undefined;
  process.env.TMPDIR = folder;
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

function buildIfChanged(): void {
  const builtAt = statSync('dist/.built', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isChanged = [...build.include, 'scripts', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].some(
    (path) => newest(path) >= builtAt,
  );
  if (!isChanged) return;
  execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json', '--noCheck'], { stdio: 'inherit' });
  execFileSync(process.execPath, ['scripts/copy-assets.mjs'], { stdio: 'inherit' });
}

/** A folder changes when a file in it is removed. */
function newest(path: string): number {
  const { mtimeMs } = statSync(path);
  const inside = statSync(path).isDirectory() ? readdirSync(path) : [];
  return Math.max(mtimeMs, ...inside.map((name) => newest(join(path, name))));
}

/** Containers often have a small folder in memory, or one where no program may be run: those are not used. */
function memoryFolder(): string | undefined {
  let folder: string | undefined;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ENOUGH_BYTES) return undefined;
    folder = mkdtempSync(join(MEMORY, 't'));
    writeFileSync(join(folder, 'try'), '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(join(folder, 'try'));
    return folder;
  } catch {
    if (folder !== undefined) rmSync(folder, { recursive: true });
    return undefined;
  }
}
