// Puts the files that are not TypeScript beside the compiled code, where it looks for them: the page with its
// libraries, and the script that Claude Code starts.

import { chmodSync, cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileInPackage, LICENSES, VENDOR } from '../dist/workspace/vendor.js';

rmSync('dist/workspace/page', { recursive: true, force: true }); // a module that is gone must not be served
for (const asset of ['workspace/page', 'hooks/drop']) {
  if (existsSync(asset)) cpSync(asset, `dist/${asset}`, { recursive: true });
}
for (const [path, file] of Object.entries({ ...VENDOR, ...LICENSES })) {
  const copy = `dist/workspace/page/vendor/${path}`;
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(fileInPackage(file), copy);
}
chmodSync('dist/bin/threadmux.js', 0o755);
