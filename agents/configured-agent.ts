// An agent as the configuration describes it: its command and the variables that its sessions get, with the defaults of its driver.

import type { Config } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { COMMON_VARIABLES } from '../core/session-environment.ts';
import type { AgentDriver } from './driver.ts';
import { allDrivers, driverOf } from './list.ts';

export interface ConfiguredAgent {
  readonly driver: AgentDriver;
  readonly command: readonly string[];
  /** Names of variables, some with a "*" at the end. */
  readonly environment: readonly string[];
  /** Those of a headless run. A list in the configuration is the whole list. */
  readonly headlessEnvironment: readonly string[];
}

type AgentsConfig = Pick<Config, 'agents'>;

export function configuredAgent({ agents }: AgentsConfig, name: string): ConfiguredAgent {
  const driver = driverOf(name);
  const { command = [driver.name], environment: given } = agents[driver.name] ?? {};
  const environment = given ?? [...COMMON_VARIABLES, ...driver.variables];
  const headlessEnvironment = given ?? [...environment, ...(driver.headless?.variables ?? [])];
  return { driver, command, environment, headlessEnvironment };
}

/** What runs it without a terminal. Throws for an agent that cannot: the configuration may have changed since it was started. */
export function asHeadless({ driver, command, headlessEnvironment: variables }: ConfiguredAgent) {
  const { headless } = driver;
  if (headless === undefined) throw new ThreadmuxError('bad_usage', `${driver.title} cannot run without a terminal.`);
  return { driver: { ...driver, headless }, command, variables };
}

/** The agent that this command starts; undefined if it is another program. The expected one counts first. */
export function agentOfCommand(
  config: AgentsConfig,
  [program]: readonly string[],
  expected: string,
): ConfiguredAgent | undefined {
  const names = [expected, ...allDrivers().map(({ name }) => name)];
  return names.map((name) => configuredAgent(config, name)).find(({ command }) => command[0] === program);
}
