// The agent that a new session starts: Claude Code, or what the configuration names, if it is on that host.

import type { CommandContext } from './commands/command.ts';

const HAS = `s=\${SHELL:-sh}; "$s" -l -i -c 'command -v "$0"' "$1" >/dev/null 2>&1 </dev/null && echo yes || echo no`;

/** The agent, with our hooks if it is on this machine; undefined if another program is meant or it is not there. */
export async function agentCommandOn(
  { host, command }: { readonly host: string; readonly command: readonly string[] | undefined },
  tools: Pick<CommandContext, 'config' | 'hosts' | 'agentSettings' | 'remote'>,
): Promise<readonly string[] | undefined> {
  const { config, hosts, agentSettings, remote } = tools;
  const [program = 'claude', ...args] = command ?? config.agent.command;
  if (program !== config.agent.command[0]) return undefined;
  const there = await hosts.get(host).sh(HAS, [program], { doing: `look for ${program}` });
  if (there.trim() !== 'yes') return undefined;
  const path = hosts.isLocal(host) ? agentSettings : await remote.settings(host);
  const settings = path === undefined ? [] : ['--settings', path];
  return [program, ...settings, ...args];
}
