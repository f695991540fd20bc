// Refuses places from which installed files could not be used for long, or could be exchanged by others.

import { existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';
import { checkAbove, ELSEWHERE, OTHERS_WRITE } from '../home/exposed-place.ts';
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

/** tmux runs files of our home each time it starts. Where others may create files, one of them could make a home that is gone, for example after a restart. */
function checkOwnPlace(root: string): void {
  checkAbove(root);
  const above = dirname(resolve(root));
  if (((statSync(above, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS_WRITE) !== 0)
    throw refused(`other users can create files in ${above}, which contains ${root}`, ELSEWHERE);
}

function refused(message: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', message, { hint });
}
