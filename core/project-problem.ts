// What is wrong with the projects of the configuration that no single key tells: names that collide, and hosts that do
// not exist. Pure.

import { AGENT_NAMES, isListedAgent } from './agent-names.ts';
import type { Config } from './config.ts';
import { type DeclaredSession, type ProjectEntry, projectName } from './project.ts';

interface ProblemAt {
  readonly key: string;
  readonly problem: string;
}

type CheckedConfig = Pick<Config, 'servers' | 'projects' | 'hosts' | 'defaultHost' | 'sessions' | 'talk'>;

export function projectProblem(config: CheckedConfig): ProblemAt | undefined {
  const { servers, hosts, defaultHost } = config;
  if (servers.length > 0 && config.projects.length > 0)
    return { key: 'projects', problem: 'is for the local workspace: with Discord, use "projects" of a server' };
  const entries: readonly (readonly [string, Omit<ProjectEntry, 'channel'>])[] = [
    ...config.projects.map((entry, at) => [`projects[${at}]`, entry] as const),
    ...servers.flatMap(({ projects }, of) =>
      projects.map((entry, at) => [`servers[${of}].projects[${at}]`, entry] as const),
    ),
  ];
  const names = new Map<string, string>();
  const declared = new Map<string, string>();
  for (const [key, entry] of entries) {
    if (entry.host !== undefined && hosts[entry.host] === undefined) {
      const known = Object.keys(hosts).join(', ');
      return { key: `${key}.host`, problem: `"${entry.host}" is not one of the hosts (${known})` };
    }
    const name = entry.name ?? projectName(entry.path);
    const other = names.get(name);
    if (other !== undefined)
      return { key: `${key}.name`, problem: `"${name}" is also the name of ${other}: give one of them another "name"` };
    names.set(name, key);
    const twice = declaredTwice(`${key}.sessions`, entry.host ?? defaultHost, entry.sessions, declared);
    if (twice !== undefined) return twice;
  }
  return declaredTwice('sessions', defaultHost, config.sessions, declared) ?? talkProblem(config);
}

/** A channel talks to one session, and there is one session of a name per host. */
function talkProblem({ servers, projects, defaultHost, talk }: CheckedConfig): ProblemAt | undefined {
  const open = servers.find(({ onlyProjects }) => !onlyProjects);
  const own =
    talk === undefined || (servers.length > 0 && open === undefined) ? [] : [{ talk, channel: open?.channel }];
  const entries: readonly (readonly [string, TalkEntry])[] = [
    ...projects.map((entry, at) => [`projects[${at}].talk`, entry] as const),
    ...servers.flatMap((server, of) =>
      server.projects.map((entry, at) => [`servers[${of}].projects[${at}].talk`, entry] as const),
    ),
    ...own.map((entry) => ['talk', entry] as const),
  ];
  const channels = new Map<string, string>();
  const names = new Map<string, string>();
  for (const [key, entry] of entries) {
    if (entry.talk === undefined) continue;
    const channel = entry.channel ?? '';
    const name = `${entry.host ?? defaultHost} ${entry.talk}`;
    const same = channels.get(channel);
    if (same !== undefined)
      return {
        key,
        problem: `is for the same channel as ${same}: a channel talks to one session, so remove one of them`,
      };
    const other = names.get(name);
    if (other !== undefined)
      return { key, problem: `"${entry.talk}" is also the session of ${other}: give one of them another name` };
    channels.set(channel, key);
    names.set(name, key);
  }
  return undefined;
}

interface TalkEntry {
  readonly talk?: string | undefined;
  readonly host?: string | undefined;
  /** Missing in the local workspace, which has one channel. */
  readonly channel?: string | undefined;
}

/** There is one session of a name per host. */
function declaredTwice(
  key: string,
  host: string,
  sessions: readonly DeclaredSession[] = [],
  declared: Map<string, string>,
): ProblemAt | undefined {
  for (const [at, { name }] of sessions.entries()) {
    const other = declared.get(`${host} ${name}`);
    if (other !== undefined) return { key: `${key}[${at}].name`, problem: `"${name}" is also declared in ${other}` };
    declared.set(`${host} ${name}`, `${key}[${at}]`);
  }
  return undefined;
}

type AgentConfig = Pick<Config, 'agent' | 'defaults' | 'sessions' | 'projects' | 'servers'>;

/** An agent that threadmux does not know. */
export function unknownAgent(config: AgentConfig): ProblemAt | undefined {
  const inEntry = (key: string, { agent, defaults, sessions = [] }: Omit<Partial<ProjectEntry>, 'path'>) => [
    [`${key}agent`, agent] as const,
    [`${key}defaults.agent`, defaults?.agent] as const,
    ...sessions.map((one, at) => [`${key}sessions[${at}].agent`, one.agent] as const),
  ];
  const all = [
    ...inEntry('', config),
    ...config.projects.flatMap((entry, at) => inEntry(`projects[${at}].`, entry)),
    ...config.servers.flatMap(({ projects }, of) =>
      projects.flatMap((entry, at) => inEntry(`servers[${of}].projects[${at}].`, entry)),
    ),
  ];
  const [key, name = ''] = all.find(([, agent]) => agent !== undefined && !isListedAgent(agent)) ?? [];
  if (key === undefined) return undefined;
  return { key, problem: `must be one of ${AGENT_NAMES.map((one) => `"${one}"`).join(', ')}, and is "${name}"` };
}
