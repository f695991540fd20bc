// Saves the bridge's environment variables for processes that are started without them: the hooks in a pane and the couriers
// that they start. Tokens are protected as in config.json: only the user can read the file.

import { rmSync } from 'node:fs';
import * as z from 'zod';
import type { ConfigEnvironment } from '../core/config.ts';
import type { Home } from './home.ts';
import { readJson, writeJson } from './whole-file.ts';

const NAMES = [
  ...['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID', 'DISCORD_ALLOWED_USERS', 'DISCORD_API_BASE'],
  ...['SSH_HOSTS', 'THREADMUX_HOST'],
];

/** Replaces all values that were saved before. */
export function saveEnvironment(home: Home, env: ConfigEnvironment): void {
  const values = NAMES.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  home.folder('state');
  if (values.length === 0) rmSync(path(home), { force: true });
  else writeJson(path(home), Object.fromEntries(values));
}

/** The environment, completed with the saved values. */
export function withSavedEnvironment(home: Home, env: ConfigEnvironment): ConfigEnvironment {
  const saved = readJson(path(home), z.record(z.string(), z.string())) ?? {};
  const own = Object.fromEntries(Object.entries(env).filter(([, value]) => value));
  return { ...saved, ...own };
}

function path(home: Home): string {
  return home.path('state', 'environment.json');
}
