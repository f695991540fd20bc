// Copies the files that are not TypeScript next to the compiled code, which looks for them there: the page with its
// libraries, the scripts that Claude Code starts, and the font of the pictures.

import { chmodSync, cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { driverFiles } from '../dist/agents/list.js';
import { FONT_LICENSES, FONTS } from '../dist/streams/picture/picture.js';
import { fileInPackage, LICENSES, VENDOR } from '../dist/workspace/assets.js';

rmSync('dist/workspace/page', { recursive: true, force: true }); // a module that was deleted must not be served
for (const asset of ['workspace/page', 'hooks/drop', 'hooks/ask', 'hooks/statusline', 'agents/codex/codex-pane']) {
  cpSync(asset, `dist/${asset}`, { recursive: true });
}
// Agents load these from the folder of `drop` and `ask`, as on other hosts.
for (const file of driverFiles()) {
  const compiled = `dist/agents/${file}`;
  cpSync(existsSync(compiled) ? compiled : `agents/${file}`, `dist/hooks/${file}`);
}
copyInto('dist/workspace/page/vendor', { ...VENDOR, ...LICENSES });
copyInto('dist/streams/picture/fonts', { ...FONTS, ...FONT_LICENSES });
chmodSync('dist/bin/threadmux.js', 0o755);
writeFileSync('dist/.built', ''); // the tests build again only if a source file is newer

function copyInto(folder, files) {
  for (const [path, file] of Object.entries(files)) {
    const copy = `${folder}/${path}`;
    mkdirSync(dirname(copy), { recursive: true });
    cpSync(fileInPackage(file), copy);
  }
}
