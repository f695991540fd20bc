// The log file log/threadmux.log: rotated at 5 MB, with three old files kept.
// A failure to write the log never stops the work that is logged.

import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createLog, type Log } from '../core/log.ts';
import { tryBestEffort } from './atomic-write.ts';
import type { Home } from './home.ts';

const LIMIT = 5_000_000;
const KEPT = 3;

export function openLogFile(
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
      tryBestEffort(path, () => {
        rotate(path, options.limit ?? LIMIT);
        appendFileSync(path, `${text}\n`, { mode: 0o600 });
      });
    },
    { secrets: options.secrets ?? [] },
  );
}

function rotate(path: string, limit: number): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < limit) return;
  for (let n = KEPT; n > 0; n--) {
    const older = n === 1 ? path : `${path}.${n - 1}`;
    if (statSync(older, { throwIfNoEntry: false })) renameSync(older, `${path}.${n}`);
  }
}
