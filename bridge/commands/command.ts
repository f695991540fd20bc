// What every command of ours gets and gives. A command comes as a "!" message or as a slash
// command; it does not know which.

import type { Config, ServerConfig } from '../../core/config.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Log } from '../../core/log.ts';
import type { MessageDraft } from '../../discord/messages.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import type { AllowedHostDirectories } from '../../streams/allowed-host-directories.ts';
import type { KnownThreads } from '../../threads/connections.ts';
import type { Notices } from '../../threads/notices.ts';
import type { PaneFinder } from '../../threads/panes.ts';
import type { RemoteHosts } from '../../threads/remote-hosts.ts';
import type { Threads } from '../../threads/session-threads.ts';
import type { HostList } from '../../tmux/host-list.ts';
import type { StreamThreads } from '../stream-threads.ts';

export interface CommandContext {
  readonly config: Config;
  readonly hosts: HostList;
  readonly remote: RemoteHosts;
  readonly panes: PaneFinder;
  readonly threads: Threads;
  /** The threads of this server. */
  readonly known: KnownThreads;
  readonly server: ServerConfig;
  readonly log: Log;
  /** The settings file with our hooks, for agents that we start ourselves on this machine. */
  readonly agentSettings: string | undefined;
  readonly streams: StreamThreads;
  readonly directories: AllowedHostDirectories;
  readonly say: Notices;
  /** By thread: keys are pressed in the order in which they were asked for. */
  readonly pressing: KeyedQueue;
  /** Types a message once more, on the person's order. */
  readonly retry: (messageId: string, orderId: string, thread: ThreadRef) => Promise<string>;
}

export interface CommandCall {
  /** The message or interaction that ordered it: grows from order to order. */
  readonly id: string;
  /** The thread it was given in; undefined in the channel itself. */
  readonly thread: ThreadRef | undefined;
  readonly rest: string;
  /** When we heard of it (of `performance.now`); undefined if it was given while we did not listen. See `isFresh`. */
  readonly liveAt: number | undefined;
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly about: string;
  run(order: CommandCall, tools: CommandContext): Promise<CommandReply>;
}

export interface CommandReply extends MessageDraft {
  /** To be done once it has been said, in this channel: a thread that is spoken in is not archived any more. */
  readonly after?: (said: string) => Promise<void>;
}

export const replyWith = (content: string): CommandReply => ({ content });

// The agent that a new session starts: Claude Code, or what the configuration names, if it is on that host.

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
