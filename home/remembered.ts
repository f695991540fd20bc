// What the bridge was told by its environment, for those that are started without it: the hooks in a pane, and the couriers they
// start. A token is kept here as it would be in config.json: readable by nobody else.

import { rmSync } from 'node:fs';
import * as z from 'zod';
import type { Env } from '../core/config.ts';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';

const NAMES = [
  ...['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID', 'DISCORD_ALLOWED_USERS', 'DISCORD_API_BASE'],
  ...['SSH_HOSTS', 'THREADMUX_HOST'],
];

/** Whatever an earlier one had told is forgotten. */
export function rememberEnvironment(home: Home, env: Env): void {
  const told = NAMES.flatMap((name) => (env[name] ? [[name, env[name]]] : []));
  home.folder('state');
  if (told.length === 0) rmSync(path(home), { force: true });
  else writeJson(path(home), Object.fromEntries(told));
}

/** The environment, and what it lacks of what the bridge had. */
export function withRemembered(home: Home, env: Env): Env {
  const told = readJson(path(home), z.record(z.string(), z.string())) ?? {};
  const mine = Object.fromEntries(Object.entries(env).filter(([, value]) => value));
  return { ...told, ...mine };
}

function path(home: Home): string {
  return home.path('state', 'environment.json');
}
