// Refuses places from which installed files could not be used for long, or could be exchanged by others.

import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';
import type { ProgramPaths } from './program-files.ts';

/** Refuses paths that stop working later, or that cannot be written into the files. */
export function checkPaths(root: string, { node, dist }: ProgramPaths): void {
  if (dist.includes('/_npx/'))
    throw refused(
      `${dist} is in the npm cache, which npm may delete at any time`,
      'Install threadmux first: npm install -g threadmux',
    );
  if (!existsSync(join(dist, 'hooks', 'drop')))
    throw refused(`${dist} is incomplete: hooks/drop is missing`, 'Build or install threadmux again.');
  checkOwnPlace(root);
  for (const path of [root, node, dist])
    if (/\p{Cc}/u.test(path))
      throw refused(
        `${JSON.stringify(path)} contains a control character`,
        'Use a folder without control characters in its path.',
      );
}

/**
 * tmux runs files of our home each time it starts. If others may write in the folder above, one of them could make a home that is gone, for
 * example after a restart. Further up, they may create files, but must not be able to exchange what is there.
 */
function checkOwnPlace(root: string): void {
  const above: string[] = [];
  for (let at = dirname(resolve(root)); above.at(-1) !== at; at = dirname(at)) above.push(at);
  for (const folder of above) {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found === undefined) continue;
    const isDirectlyAbove = folder === above[0];
    const isOpen = (found.mode & 0o002) !== 0 && (isDirectlyAbove || (found.mode & 0o1000) === 0);
    const isForeign = isDirectlyAbove && ![0, process.getuid?.()].includes(found.uid);
    if (isOpen || isForeign)
      throw refused(
        `other users can write in ${folder}, which contains ${root}`,
        'Set THREADMUX_HOME to a folder in a place where only you can write.',
      );
  }
}

function refused(message: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', message, { hint });
}
