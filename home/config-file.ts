// Reads config.json from our home. A file that others can read is refused, because it contains the bot's token.

import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { type Config, type ConfigEnvironment, parseConfig } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import type { Home } from './home.ts';

export function loadConfig(home: Home, env: ConfigEnvironment): Config {
  const path = home.path('config.json');
  const text = readPrivate(path);
  return parseConfig({
    file: text === undefined ? undefined : { path, text },
    env,
    hostname: hostname(),
    readToken: (file) => readTokenFile(expandHome(file, env), dirname(path)),
  });
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
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0)
      throw new ThreadmuxError(
        'config_invalid',
        `${path} can be read by others (mode ${(mode & 0o777).toString(8)}), and it contains a secret`,
        { hint: `Run: chmod 600 ${path}` },
      );
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (error instanceof ThreadmuxError) throw error;
    throw new ThreadmuxError('config_invalid', `reading ${path}: ${(error as Error).message}`, {
      cause: error,
      hint: 'Make it a file that you can read.',
    });
  }
}

/** Expands a leading "~", which users write in configuration files. */
export function expandHome(path: string, env: ConfigEnvironment): string {
  return path.replace(/^~(?=\/|$)/, env.HOME ?? '~');
}
