// Everything in a folder, with type, mode and content: equal listings mean equal folders.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

export function folderListing(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const path = join(root, name);
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
      if (!stat.isFile()) return `${name}/ ${mode}`;
      return `${name} ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
    });
}
