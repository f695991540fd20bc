// A home of its own in a private temp folder, gone when the test ends.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Home, openHome } from '../../home/home.ts';

export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tmx-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export function tempHome(): Home {
  return openHome(join(tempFolder(), 'home'));
}
