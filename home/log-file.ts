// The log of the home: log/threadmux.log, turned over at 5 MB, three old ones kept.
// A log that cannot be written must never stop the work it tells about.

import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createLog, type Log } from '../core/log.ts';
import type { Home } from './home.ts';
import { attempt } from './keep.ts';

const LIMIT = 5_000_000;
const KEPT = 3;

export function openLog(
  home: Home,
  who: string,
  options: { secrets?: readonly string[]; also?: (line: string) => void; limit?: number } = {},
): Log {
  const path = join(home.folder('log'), 'threadmux.log');
  return createLog(
    (line) => {
      const [at, ...rest] = line.split(' ');
      const text = `${at} ${who} ${rest.join(' ')}`;
      options.also?.(text);
      attempt(path, () => {
        turnOver(path, options.limit ?? LIMIT);
        appendFileSync(path, `${text}\n`, { mode: 0o600 });
      });
    },
    { secrets: options.secrets ?? [] },
  );
}

function turnOver(path: string, limit: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < limit) return;
  for (let n = KEPT; n > 0; n--) {
    const older = n === 1 ? path : `${path}.${n - 1}`;
    if (statSync(older, { throwIfNoEntry: false })) renameSync(older, `${path}.${n}`);
  }
}
