// Puts the files that are not TypeScript beside the compiled code, where it looks for them.

import { chmodSync, cpSync, existsSync } from 'node:fs';

for (const asset of ['workspace/page', 'hooks/drop']) {
  if (existsSync(asset)) cpSync(asset, `dist/${asset}`, { recursive: true });
}
chmodSync('dist/bin/threadmux.js', 0o755);
