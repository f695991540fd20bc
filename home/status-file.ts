// The last status line input per Claude session, saved for the footer of its replies.

import { join } from 'node:path';
import { parsedJson } from '../core/json.ts';
import type { Home } from './home.ts';
import { readText } from './whole-file.ts';

export function loadStatus(home: Home, claudeSession: string): unknown {
  const path = pathOf(home, claudeSession);
  return path === undefined ? undefined : parsedJson(readText(path) ?? '');
}

/** The id comes from outside, and the path must stay inside the folder. */
function pathOf(home: Home, claudeSession: string): string | undefined {
  return /^[\w-]{1,100}$/.test(claudeSession) ? join(home.folder('status'), `${claudeSession}.json`) : undefined;
}
