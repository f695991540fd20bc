// Whether every tmux session gets a thread, or only those that report by themselves. Once tmux
// tells us of its sessions (`threadmux install`), yes; `threadmux auto on|off` has the last word.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';
import { loadInstalled } from './installed.ts';

const schema = z.object({ on: z.boolean() });

/** `host`: another one, where tmux tells us of its sessions after `threadmux install --host`. */
export function loadAuto(home: Home, host?: string): boolean {
  const tmuxTells = () =>
    host === undefined
      ? existsSync(home.path('tmux.conf'))
      : loadInstalled(home.path('state', 'hosts', host)).some(({ kind }) => kind === 'tmux');
  return readJson(home.path('state', 'auto.json'), schema)?.on ?? tmuxTells();
}

export function saveAuto(home: Home, on: boolean): void {
  writeJson(join(home.folder('state'), 'auto.json'), { on });
}
