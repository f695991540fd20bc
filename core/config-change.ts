// What a new version of config.json changes: which keys take effect at once, and which after a restart. Pure.

import type { Config, ServerConfig } from './config.ts';

export interface ConfigChange {
  /** The keys that take effect at once, such as "defaults". */
  readonly applied: readonly string[];
  /** The keys that take effect after a restart, such as "hosts" or "servers[0].token". */
  readonly needRestart: readonly string[];
}

/** They are read when the bridge starts, or other machines have a copy of them. */
const AT_START: readonly string[] = [
  ...['host', 'defaultHost', 'hosts', 'roots', 'maxThreads', 'agent', 'agents', 'tellAgent', 'tmuxSocket', 'sshConfig'],
];
const SERVER_AT_START = ['api', 'token', 'channel'] as const;

export function configChange(before: Config, after: Config): ConfigChange {
  const applied: string[] = [];
  const needRestart: string[] = [];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Config)[];
  for (const key of keys) {
    if (key === 'origins' || key === 'servers' || isSame(before[key], after[key])) continue;
    (AT_START.includes(key) ? needRestart : applied).push(key);
  }
  for (const [at, server] of after.servers.entries()) {
    const old = before.servers.find(({ name }) => name === server.name);
    if (old === undefined) needRestart.push(`servers[${at}]`);
    else serverChange(old, server, `servers[${at}]`, applied, needRestart);
  }
  const isGone = before.servers.some(({ name }) => !after.servers.some((one) => one.name === name));
  return { applied, needRestart: isGone ? [...needRestart, 'servers'] : needRestart };
}

function serverChange(
  old: ServerConfig,
  now: ServerConfig,
  at: string,
  applied: string[],
  needRestart: string[],
): void {
  for (const key of SERVER_AT_START) if (old[key] !== now[key]) needRestart.push(`${at}.${key}`);
  for (const key of ['allow', 'onlyProjects', 'projects'] as const)
    if (!isSame(old[key], now[key])) applied.push(`${at}.${key}`);
  const known = [old.channel, ...old.projects.map(({ channel }) => channel)];
  for (const [of, { channel }] of now.projects.entries())
    if (!known.includes(channel)) needRestart.push(`${at}.projects[${of}].channel`);
}

/** The new values, but with the old ones of the keys that need a restart, as far as they decide where sessions are. */
export function valuesUntilRestart(before: Config, after: Config): Config {
  const kept = Object.fromEntries(AT_START.map((key) => [key, before[key as keyof Config]]));
  const servers = after.servers.map((now) => {
    const old = before.servers.find(({ name }) => name === now.name);
    return old === undefined ? now : { ...now, channel: old.channel, projects: heardProjects(old, now) };
  });
  return { ...after, ...kept, servers };
}

/** Nobody listens to a new channel yet: messages in its threads would wait there unseen. */
function heardProjects(old: ServerConfig, now: ServerConfig): ServerConfig['projects'] {
  const heard = [old.channel, ...old.projects.map(({ channel }) => channel)];
  return now.projects.flatMap((project) => {
    if (heard.includes(project.channel)) return [project];
    const before = old.projects.find(({ path, host }) => path === project.path && host === project.host);
    return before === undefined ? [] : [{ ...project, channel: before.channel }];
  });
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function changeText({ applied, needRestart }: ConfigChange): string {
  const list = (keys: readonly string[]) => keys.map((key) => `\`${key}\``).join(', ');
  const now = applied.length === 0 ? '' : ` ${list(applied)} took effect.`;
  const later = needRestart.length === 0 ? '' : ` Restart threadmux to apply ${list(needRestart)}.`;
  return `⚙️ config.json has changed.${now}${later}`;
}
