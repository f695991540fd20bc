// Builds once before the tests, if a source file has changed: tests that start real processes start the compiled ones.
// Types are checked by `npm run check`.

import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import build from '../../tsconfig.build.json' with { type: 'json' };

export default function setup(): void {
  // A home below a folder that a group can change is refused: with some people's umask, that would be every folder that a test makes.
  process.umask(0o022);
  const builtAt = statSync('dist/.built', { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isChanged = [...build.include, 'scripts', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json'].some(
    (path) => newest(path) >= builtAt,
  );
  if (!isChanged) return;
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
}

/** A folder changes when a file in it is removed. */
function newest(path: string): number {
  const { mtimeMs } = statSync(path);
  const inside = statSync(path).isDirectory() ? readdirSync(path) : [];
  return Math.max(mtimeMs, ...inside.map((name) => newest(join(path, name))));
}
