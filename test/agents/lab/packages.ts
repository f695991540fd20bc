// The agents of the lab, with the versions that the tests know. Other versions can be tried with AGENT_LAB_VERSIONS=codex@1.2.3,…

import { homedir } from 'node:os';
import { join } from 'node:path';

interface AgentPackage {
  readonly npm: string;
  readonly version: string;
  readonly program: string;
  /** A script of the package that must run once; newer versions of npm do not run it by themselves. */
  readonly finish?: string;
  /** A package of the same version that the agent installs into the user's settings at its first start. */
  readonly later?: string;
}

const PINNED = {
  codex: { npm: '@openai/codex', version: '0.166.0', program: 'codex' },
  gemini: { npm: '@google/gemini-cli', version: '0.61.0', program: 'gemini' },
  opencode: {
    npm: 'opencode-ai',
    version: '1.18.33',
    program: 'opencode',
    finish: 'postinstall.mjs',
    later: '@opencode-ai/plugin',
  },
  pi: { npm: '@mariozechner/pi-coding-agent', version: '0.73.1', program: 'pi' },
} satisfies Record<string, AgentPackage>;

export type LabAgentName = keyof typeof PINNED;

/** All, or those that AGENT_LAB_ONLY names: they are large. */
export function labAgents(): readonly LabAgentName[] {
  const only = process.env.AGENT_LAB_ONLY?.split(',') ?? [];
  const all = Object.keys(PINNED) as LabAgentName[];
  return only.length === 0 ? all : all.filter((name) => only.includes(name));
}

export function agentPackage(name: LabAgentName): AgentPackage {
  const other = process.env.AGENT_LAB_VERSIONS?.split(',').find((one) => one.startsWith(`${name}@`));
  return other === undefined ? PINNED[name] : { ...PINNED[name], version: other.slice(name.length + 1) };
}

/** Where it is installed, once for all runs. */
export function agentFolder(name: LabAgentName): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(cache, 'threadmux-lab', `${name}-${agentPackage(name).version}`);
}

/** Where the packages are that it would install later. */
export function laterFolder(name: LabAgentName): string {
  return join(agentFolder(name), 'later');
}

export function agentProgram(name: LabAgentName): string {
  return join(agentFolder(name), 'node_modules/.bin', agentPackage(name).program);
}
