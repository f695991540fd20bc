// A private folder for ssh's control sockets that is gone again afterwards: looking at a host leaves nothing in our home.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface ControlDir {
  readonly path: string;
  remove(): void;
}

export function temporaryControlDir(): ControlDir {
  const path = mkdtempSync(join(tmpdir(), 'tmx-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}
