// The names of the agents, as in the configuration and in `--agent`. Their drivers are in agents/list.ts.

export const AGENT_NAMES = ['claude', 'codex', 'gemini', 'opencode', 'pi'] as const;
export type AgentName = (typeof AGENT_NAMES)[number];

export const isListedAgent = (name: string): boolean => AGENT_NAMES.some((one) => one === name);

/** In a record or a letter: the agent of another version may be unknown here. */
export const AGENT_NAME = /^[a-z][a-z0-9-]{0,31}$/;
