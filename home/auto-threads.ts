// Whether every tmux session gets a thread, or only those whose hooks report. `threadmux auto on|off` decides; by default it is
// on where tmux reports its sessions (after `threadmux install`).

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Home } from './home.ts';
import { loadInstalled } from './installed.ts';
import { readJson, writeJson } from './whole-file.ts';

const schema = z.object({ on: z.boolean() });

/** `host` is a remote host, where tmux reports its sessions after `threadmux install --host`. */
export function loadAutoThreads(home: Home, host?: string): boolean {
  const tmuxReports = () =>
    host === undefined
      ? existsSync(home.path('tmux.conf'))
      : loadInstalled(home.path('state', 'hosts', host)).some(({ kind }) => kind === 'tmux');
  return readJson(home.path('state', 'auto.json'), schema)?.on ?? tmuxReports();
}

export function saveAutoThreads(home: Home, on: boolean): void {
  writeJson(join(home.folder('state'), 'auto.json'), { on });
}
