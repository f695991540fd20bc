// The address and token of the local workspace, saved by the process that serves it so that the hooks find it.

import * as z from 'zod';
import type { ServerConfig } from '../core/config.ts';
import type { Home } from './home.ts';
import { readJson, writeJson } from './whole-file.ts';

const schema = z.object({
  api: z.string(),
  token: z.string(),
  channel: z.string(),
  user: z.string(),
});

type LocalServer = z.output<typeof schema>;

export function saveLocalServer(home: Home, server: LocalServer): void {
  writeJson(`${home.folder('state')}/workspace.json`, server);
}

export function loadLocalServer(home: Home): ServerConfig | undefined {
  const local = readJson(home.path('state', 'workspace.json'), schema);
  return local === undefined ? undefined : localServer(local);
}

export function localServer({ api, token, channel, user }: LocalServer): ServerConfig {
  return { name: 'local', api, token, channel, allow: [user], projects: [], onlyProjects: false };
}
