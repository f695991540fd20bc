// The last status line input per Claude session, saved for the footer of its replies.

import { join } from 'node:path';
import { parseJson } from '../core/json.ts';
import { readText, writeWhole } from './files.ts';
import type { Home } from './home.ts';

export function saveStatus(home: Home, claudeSession: string, json: string): void {
  const path = pathOf(home, claudeSession);
  if (path !== undefined) writeWhole(path, json);
}

export function loadStatus(home: Home, claudeSession: string): unknown {
  const path = pathOf(home, claudeSession);
  const text = path === undefined ? undefined : readText(path);
  try {
    return text === undefined ? undefined : parseJson(text);
  } catch {
    return undefined; // not valid JSON: the footer is left out
  }
}

/** The id comes from outside, and the path must stay inside the folder. */
function pathOf(home: Home, claudeSession: string): string | undefined {
  return /^[\w-]{1,100}$/.test(claudeSession)
    ? join(home.folder('status'), `${claudeSession}.json`)
    : undefined;
}
