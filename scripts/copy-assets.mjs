// Copies the files that are not TypeScript next to the compiled code, which looks for them there: the page with its
// libraries, the scripts that Claude Code starts, and the font of the pictures.

import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { FONT_LICENSES, FONTS } from '../dist/streams/picture/picture.js';
import { fileInPackage, LICENSES, VENDOR } from '../dist/workspace/assets.js';

rmSync('dist/workspace/page', { recursive: true, force: true }); // a module that was deleted must not be served
for (const asset of ['workspace/page', 'hooks/drop', 'hooks/ask', 'hooks/statusline', 'agents/codex/codex-pane']) {
  cpSync(asset, `dist/${asset}`, { recursive: true });
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
