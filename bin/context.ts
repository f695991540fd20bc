// What every command starts from. The environment is read here and nowhere else.

import type { Config, Env, Server } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { loadConfig } from '../home/config-file.ts';
import { type Home, homeRoot, openHome } from '../home/home.ts';
import { loadLocalServer } from '../home/local-server.ts';
import { openLog } from '../home/log-file.ts';
import { withRemembered } from '../home/remembered.ts';
import { onTrouble } from '../home/trouble.ts';

export interface Context {
  readonly home: Home;
  readonly config: Config;
  /** The configured servers, or the local workspace once it has run. */
  readonly servers: readonly Server[];
  readonly log: Log;
  readonly env: Env;
}

export function openContext(who: string, also?: (line: string) => void): Context {
  return openContextOf(openHome(homeRoot(process.env)), process.env, who, also);
}

/** For what Claude Code starts: it may lack what the bridge was told by its environment. */
export function openHookContext(who: string, token = ''): Context {
  const home = openHome(homeRoot(process.env));
  const env = token === '' ? process.env : { ...process.env, DISCORD_BOT_TOKEN: token };
  return openContextOf(home, withRemembered(home, env), who);
}

export function openContextOf(
  home: Home,
  env: Env,
  who: string,
  also?: (line: string) => void,
): Context {
  const config = loadConfig(home, env);
  const local = config.servers.length === 0 ? loadLocalServer(home) : undefined;
  const servers = local === undefined ? config.servers : [local];
  const secrets = servers.map(({ token }) => token);
  const log = openLog(home, who, also === undefined ? { secrets } : { secrets, also });
  onTrouble(({ kind, isOver, words }) => log[isOver ? 'info' : 'warn'](kind, { words }));
  return { home, config, servers, log, env };
}
