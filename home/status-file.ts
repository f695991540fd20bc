// The last status line input of each Claude session, kept for the footer under its replies.

import { join } from 'node:path';
import { parsedJson } from '../core/json.ts';
import { readText } from './files.ts';
import type { Home } from './home.ts';

export function loadStatus(home: Home, claudeSession: string): unknown {
  const path = pathOf(home, claudeSession);
  return path === undefined ? undefined : parsedJson(readText(path) ?? '');
}

/** The id comes from outside and must not lead out of the folder. */
function pathOf(home: Home, claudeSession: string): string | undefined {
  return /^[\w-]{1,100}$/.test(claudeSession)
    ? join(home.folder('status'), `${claudeSession}.json`)
    : undefined;
}
