// What the service knows of the user's terminal: its file, the PATH in it, and the variables that its sessions get.

import { join } from 'node:path';
import { configuredAgent } from '../../agents/configured-agent.ts';
import { allDrivers } from '../../agents/list.ts';
import type { ConfigEnvironment } from '../../core/config.ts';
import { isThreadmuxError } from '../../core/errors.ts';
import { COMMON_VARIABLES, sessionEnvironment } from '../../core/session-environment.ts';
import { loadConfig, saveServiceEnvironment } from '../../home/config-file.ts';
import { homeRoot, openHome } from '../../home/home.ts';
import { printNote } from '../print.ts';

export const LABEL = 'threadmux';

export function servicePath(env: ConfigEnvironment): string {
  const user = env.HOME ?? '/';
  if (process.platform === 'darwin') return join(user, 'Library', 'LaunchAgents', `${LABEL}.plist`);
  return join(env.XDG_CONFIG_HOME || join(user, '.config'), 'systemd', 'user', `${LABEL}.service`);
}

/** The PATH in a service file that we wrote. */
export function pathInService(text: string): string | undefined {
  const [, quoted] = /^Environment="PATH=((?:[^"\\]|\\.)*)"$/m.exec(text) ?? [];
  if (quoted !== undefined) return quoted.replace(/\\(.)/g, '$1').replaceAll('%%', '%');
  const [, xml] = /<key>PATH<\/key>\s*<string>([^<]*)<\/string>/.exec(text) ?? [];
  return xml?.replaceAll('&quot;', '"').replaceAll('&gt;', '>').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
}

/** Copies the values only if the user asked for it; otherwise says which ones are missing. `inUnit` are in the service file. */
export function keepForSessions(isWanted: boolean, inUnit: readonly string[]): void {
  const home = openHome(homeRoot(process.env));
  const all = sessionEnvironment(process.env, listedNames());
  const variables = Object.fromEntries(Object.entries(all).filter(([name]) => !inUnit.includes(name)));
  saveServiceEnvironment(home, isWanted ? variables : undefined);
  const names = Object.keys(variables).filter((name) => !/^(?:LANG$|LC_)/.test(name));
  if (names.length === 0) return;
  if (isWanted) return printNote(`Sessions get ${names.join(', ')} from a copy in ${home.path('state')} (mode 600).`);
  printNote(
    `The sessions of the service do not get ${names.join(', ')} from this shell. To keep a copy that only you can read, run: threadmux service install --keep-environment`,
  );
}

/** An invalid configuration is reported when the service starts. */
function listedNames(): readonly string[] {
  try {
    const config = loadConfig(openHome(homeRoot(process.env)), process.env);
    return allDrivers().flatMap(({ name }) => configuredAgent(config, name).environment);
  } catch (error) {
    if (isThreadmuxError(error)) return [...COMMON_VARIABLES, ...allDrivers().flatMap(({ variables }) => variables)];
    throw error;
  }
}
