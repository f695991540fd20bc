// Reads config.json from our home. A file that others can read is refused, because it may contain the bot's token.

import { closeSync, fstatSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { type Config, type ConfigEnvironment, parseConfig, type ServerConfig } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { alwaysMask } from '../core/mask-secrets.ts';
import { decoded } from '../core/webhook.ts';
import { readJson, writeJson } from './atomic-write.ts';
import { AT_ONCE } from './checked-file.ts';
import type { Home } from './home.ts';

export function loadConfig(home: Home, env: ConfigEnvironment): Config {
  const path = home.path('config.json');
  const text = readPrivate(path);
  // The error about a key in a wrong place names it.
  for (const [, token = ''] of text?.matchAll(/"token"\s*:\s*"([^"]+)"/g) ?? []) alwaysMask(token);
  const config = parseConfig({
    file: text === undefined ? undefined : { path, text },
    env,
    hostname: hostname(),
    readToken: (file) => readTokenFile(expandHome(file, env), dirname(path)),
  });
  for (const { token, api } of config.servers) for (const secret of [token, ...passwordIn(api)]) alwaysMask(secret);
  for (const secret of config.notify.flatMap(({ url }) => passwordIn(url))) alwaysMask(secret);
  return config;
}

/** A user without a password may be a token. */
function passwordIn(address: string): readonly string[] {
  const { username, password } = URL.canParse(address) ? new URL(address) : { username: '', password: '' };
  const secret = password || username;
  return secret === '' ? [] : [secret, decoded(secret)];
}

function readTokenFile(file: string, base: string): string {
  const path = resolve(base, file);
  const text = readPrivate(path);
  if (text !== undefined) return text;
  throw new ThreadmuxError('config_invalid', `tokenFile: there is no file ${path}`, {
    hint: 'Write the token into it, or correct "tokenFile" in config.json.',
  });
}

function readPrivate(path: string): string | undefined {
  try {
    const { text, mode } = readAtOnce(path);
    if ((mode & 0o077) === 0) return text;
    const secret = !path.endsWith('.json') || /"token"\s*:/.test(text) ? ', and it contains a token' : '';
    throw new ThreadmuxError(
      'config_invalid',
      `${path} can be read by others (mode ${(mode & 0o777).toString(8)})${secret}`,
      { hint: `Run: chmod 600 ${path}` },
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof ThreadmuxError) throw error;
    throw new ThreadmuxError('config_invalid', `reading ${path}: ${(error as Error).message}`, {
      cause: error,
      hint: 'Make it a file that you can read.',
    });
  }
}

const MOST_BYTES = 2 ** 20;

/** The folder of a token file may belong to others, who could put a named pipe in its place: reading it would never end. */
function readAtOnce(path: string): { readonly text: string; readonly mode: number } {
  const fd = openSync(path, AT_ONCE);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error('it is not a regular file');
    if (stat.size > MOST_BYTES) throw new Error('it is larger than 1 MiB');
    return { text: readFileSync(fd, 'utf8'), mode: stat.mode };
  } finally {
    closeSync(fd);
  }
}

/** Expands a leading "~", which users write in configuration files. */
export function expandHome(path: string, env: ConfigEnvironment): string {
  return path.replace(/^~(?=\/|$)/, env.HOME ?? '~');
}

// Saves the bridge's environment variables for processes that are started without them: the hooks in a pane and the couriers
// that they start. Tokens are protected as in config.json: only the user can read the file.

const NAMES = [
  ...['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID', 'DISCORD_ALLOWED_USERS', 'DISCORD_API_BASE'],
  ...['SSH_HOSTS', 'THREADMUX_HOST', 'THREADMUX_TMUX_SOCKET'],
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

// Variables that `threadmux service install --keep-environment` has copied from the user's terminal: a service starts without
// them. Only the user can read the file.

/** Undefined removes the copy. */
export function saveServiceEnvironment(home: Home, variables: Readonly<Record<string, string>> | undefined): void {
  const file = join(home.folder('state'), 'service-environment.json');
  if (variables === undefined) rmSync(file, { force: true });
  else writeJson(file, variables);
}

/** The environment, completed with the copy. */
export function withServiceEnvironment(home: Home, env: ConfigEnvironment): ConfigEnvironment {
  const kept = readJson(home.path('state', 'service-environment.json'), z.record(z.string(), z.string())) ?? {};
  return { ...kept, ...env };
}

// The address and token of the local workspace, saved by the process that serves it so that the hooks find it.

const schema = z.object({ api: z.string(), token: z.string(), channel: z.string(), user: z.string() });

type LocalServer = z.output<typeof schema>;

export function saveLocalServer(home: Home, server: LocalServer): void {
  writeJson(`${home.folder('state')}/workspace.json`, server);
}

export function loadLocalServer(
  home: Home,
  { projects }: Pick<Config, 'projects'> = { projects: [] },
): ServerConfig | undefined {
  const local = readJson(home.path('state', 'workspace.json'), schema);
  return local === undefined ? undefined : localServer(local, projects);
}

/** Differs after every change of the file. */
export function versionOf(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/** Reads the file again only if it has changed: it is asked for very often. */
export function createLocalServerReader(home: Home): (config: Pick<Config, 'projects'>) => ServerConfig | undefined {
  let last:
    | { readonly version: string; readonly projects: unknown; readonly server: ServerConfig | undefined }
    | undefined;
  return (config) => {
    const version = versionOf(home.path('state', 'workspace.json'));
    if (last?.version !== version || last.projects !== config.projects)
      last = { version, projects: config.projects, server: loadLocalServer(home, config) };
    return last.server;
  };
}

/** The workspace has one channel, also for the sessions of projects. */
export function localServer(
  { api, token, channel, user }: LocalServer,
  projects: Config['projects'] = [],
): ServerConfig {
  const own = projects.map((project) => ({ ...project, channel }));
  return { name: 'local', api, token, channel, allow: [user], projects: own, onlyProjects: false };
}
