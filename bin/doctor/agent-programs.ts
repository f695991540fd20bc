// The agents that doctor looks for: those that the configuration starts on a host, and those that are installed here.

import { configuredAgent } from '../../agents/configured-agent.ts';
import type { AgentDriver } from '../../agents/driver.ts';
import { allDrivers } from '../../agents/list.ts';
import type { Config } from '../../core/config.ts';
import { projectsOf } from '../../core/project.ts';
import { configuredServers } from '../acts/configured-project.ts';
import { isInPath } from '../commands/install-agents.ts';

/** The programs of the agents that may be started on this host: the usual one, and those of its projects and declared sessions. */
export function agentPrograms(config: Config | undefined, host: string | undefined): readonly string[] {
  if (config === undefined) return ['claude'];
  const isHere = (name = '') => config.hosts[name] === 'local';
  const there = projectsOf(config, configuredServers({ config })).filter((project) => {
    const name = project.host ?? config.defaultHost;
    return name === host || (isHere(name) && isHere(host));
  });
  const names = there.flatMap(({ agent, defaults, sessions }) => [
    ...[agent, defaults.agent],
    ...sessions.map((session) => session.agent),
  ]);
  const programs = [config.agent, ...names].flatMap((name) => (name === undefined ? [] : programOf(config, name)));
  return [...new Set(programs)];
}

/** Those whose program is in this PATH, also by another name that the configuration gives it. */
export function installedAgents(config: Config | undefined, path: string): readonly AgentDriver[] {
  return allDrivers().filter((driver) => {
    const program = config === undefined ? driver.name : programOf(config, driver.name);
    return isInPath({ programs: [program, ...driver.programs] }, path);
  });
}

function programOf(config: Config, name: string): string {
  return configuredAgent(config, name).command[0] ?? name;
}
