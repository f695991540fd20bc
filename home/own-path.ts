// Resolves the links of a path like `realpath`, but follows no link of another user: who can write the folder above a project could
// replace the project by a link to any folder.

import { lstatSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isForeignLink } from './user-owned-file.ts';

/** The limit of the Linux kernel. */
const MOST_LINKS = 40;

/** Undefined if there is no such path, or a link of another user is part of it. */
export function resolveOwnPath(path: string): string | undefined {
  const rest = resolve(path).split(sep);
  let at: string = sep;
  let links = 0;
  try {
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      const next = part === '..' ? dirname(at) : join(at, part);
      const stat = lstatSync(next);
      if (!stat.isSymbolicLink()) {
        at = next;
        continue;
      }
      const target = readlinkSync(next);
      // The link that was read must be the one whose owner is checked.
      const isSame = lstatSync(next).ino === stat.ino;
      if (isForeignLink(stat, process.getuid?.()) || !isSame || ++links > MOST_LINKS) return undefined;
      if (target.startsWith(sep)) at = sep;
      rest.unshift(...target.split(sep));
    }
    return at;
  } catch {
    return undefined; // it does not exist
  }
}
