// A home in a private temporary folder that is removed when the test ends.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Home, openHome } from '../../home/home.ts';
import { atEnd } from './at-end.ts';

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tmx-'));
  atEnd(() => removeFolder(folder));
  return folder;
}

export function tempFile(name: string, content: string | Buffer): string {
  const path = join(tempFolder(), name);
  writeFileSync(path, content);
  return path;
}

/** A process that is just exiting may still create a file in a folder that was already listed. */
export function removeFolder(folder: string): void {
  for (let tries = 0; ; tries++) {
    try {
      return rmSync(folder, { recursive: true, force: true, maxRetries: 2 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || tries > 4) throw error;
    }
  }
}

export function tempHome(): Home {
  return openHome(join(tempFolder(), 'home'));
}
