// The settings that sessions of ours are started with: they bring the hooks along, and nothing of the user's settings
// is touched.

import { join } from 'node:path';
import { hookSettings } from '../agents/claude/settings.ts';
import type { Home } from '../home/home.ts';
import { writeJson } from '../home/whole-file.ts';
import { installedPaths } from './commands/install.ts';

/** Written anew each time: the program may have moved since. */
export function agentSettings(home: Home): string {
  const path = join(home.folder('state'), 'agent-settings.json');
  writeJson(path, hookSettings(installedPaths()));
  return path;
}
