// What every command starts from. The environment is read here and nowhere else.

import type { Config, ConfigEnvironment, ServerConfig } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { loadConfig, loadLocalServer, withSavedEnvironment } from '../home/config-file.ts';
import { type Home, homeRoot, openHome } from '../home/home.ts';
import { openLogFile } from '../home/log-file.ts';
import { onDiskFailure } from '../home/whole-file.ts';

export interface CliContext {
  readonly home: Home;
  readonly config: Config;
  /** The configured servers, or the local workspace once it has run. */
  readonly servers: readonly ServerConfig[];
  readonly log: Log;
  readonly env: ConfigEnvironment;
}

export function openContext(who: string, also?: (line: string) => void): CliContext {
  return openContextOf(openHome(homeRoot(process.env)), process.env, who, also);
}

/** For what Claude Code starts: it may lack what the bridge was told by its environment. */
export function openHookContext(who: string, token = ''): CliContext {
  const home = openHome(homeRoot(process.env));
  const env = token === '' ? process.env : { ...process.env, DISCORD_BOT_TOKEN: token };
  return openContextOf(home, withSavedEnvironment(home, env), who);
}

export function openContextOf(
  home: Home,
  env: ConfigEnvironment,
  who: string,
  also?: (line: string) => void,
): CliContext {
  const config = loadConfig(home, env);
  const local = config.servers.length === 0 ? loadLocalServer(home) : undefined;
  const servers = local === undefined ? config.servers : [local];
  const secrets = servers.map(({ token }) => token);
  const log = openLogFile(home, who, also === undefined ? { secrets } : { secrets, also });
  onDiskFailure(({ kind, isOver, words }) => log[isOver ? 'info' : 'warn'](kind, { words }));
  return { home, config, servers, log, env };
}
