// All agents that threadmux knows. A new one is a folder here, its name in core/agent-names.ts and a line in this list.

import type { AgentName } from '../core/agent-names.ts';
import { claude } from './claude/driver.ts';
import { codex } from './codex/driver.ts';
import type { AgentDriver } from './driver.ts';
import { gemini } from './gemini/driver.ts';
import { opencode } from './opencode/driver.ts';
import { pi } from './pi/driver.ts';

const LISTED: Readonly<Record<AgentName, AgentDriver>> = { claude, codex, gemini, opencode, pi };

const drivers = new Map<string, AgentDriver>(Object.entries(LISTED));

/** The driver of this name; that of Claude Code for a name that this version does not know. */
export function driverOf(agent: string): AgentDriver {
  return drivers.get(agent) ?? claude;
}

export function knownDriver(agent: string): AgentDriver | undefined {
  return drivers.get(agent);
}

export function allDrivers(): readonly AgentDriver[] {
  return [...drivers.values()];
}

/** The files that agents load from the folder of `drop` and `ask`. */
export function driverFiles(): readonly string[] {
  return [...new Set(allDrivers().flatMap(({ files = [] }) => files))];
}

/** For tests, which bring an agent of their own. */
export function addDriver(driver: AgentDriver): void {
  drivers.set(driver.name, driver);
}
