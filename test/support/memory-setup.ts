// Keeps the files of the tests in memory, where the machine allows it. Nearly every file is synced when it is written: on a
// disk the tests would mostly wait for that.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 2 * 2 ** 30;

export function setup(): (() => void) | undefined {
  let folder: string | undefined;
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < NEEDED_BYTES) return undefined;
    folder = mkdtempSync(join(MEMORY, 'tm'));
    // Containers often forbid to run programs there, and tests do.
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    rmSync(program);
  } catch {
    remove();
    return undefined;
  }
  process.env.TMPDIR = folder;
  return remove;
}
