// Before the tests: builds once, because they start the compiled program, and keeps their files in memory.

import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const NEEDED_BYTES = 2 * 2 ** 30;

export default function setup(): (() => void) | undefined {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  return useMemory();
}

/** Nearly every file is synced when it is written: on a disk the tests would mostly wait for that. */
function useMemory(): (() => void) | undefined {
  let folder: string | undefined;
  const remove = () => rmSync(folder ?? '', { recursive: true, force: true, maxRetries: 5 });
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < NEEDED_BYTES) return undefined;
    folder = mkdtempSync(join(MEMORY, 'tm'));
    // Containers often forbid to run programs there, and tests do.
    const program = join(folder, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    execFileSync(program);
    rmSync(program);
  } catch {
    if (folder !== undefined) remove();
    return undefined;
  }
  process.env.TMPDIR = folder;
  return remove;
}
