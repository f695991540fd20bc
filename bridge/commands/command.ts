// What every command receives and returns. It runs in the same way as a "!" message and as a slash command.

import type { Config, ServerConfig } from '../../core/config.ts';
import type { KeyedQueue } from '../../core/keyed-queue.ts';
import type { Log } from '../../core/log.ts';
import type { Variables } from '../../core/session-environment.ts';
import type { MessageDraft } from '../../discord/messages.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import type { AllowedHostDirectories } from '../../streams/allowed-directories.ts';
import type { AgentStatus } from '../../threads/agent-status.ts';
import type { KnownThreads } from '../../threads/connections.ts';
import type { Notices } from '../../threads/notices.ts';
import type { PaneFinder } from '../../threads/panes.ts';
import type { RemoteHosts } from '../../threads/remote-hosts.ts';
import type { Threads } from '../../threads/session-threads.ts';
import type { SessionStates } from '../../threads/watch-panes.ts';
import type { Worktrees } from '../../threads/worktrees.ts';
import type { HostList } from '../../tmux/host-list.ts';
import type { DeclaredSessions } from '../declared/declared-sessions.ts';
import type { Dialogs } from '../dialogs/dialogs.ts';
import type { AcceptedMessage } from '../inbox.ts';
import type { Retry } from '../retry.ts';
import type { Scheduled } from '../scheduled.ts';
import type { SlashMessages } from '../slash-messages.ts';
import type { StreamThreads } from '../stream-threads.ts';
import type { UsageLimits } from '../usage-limits.ts';

export interface CommandContext {
  readonly config: Config;
  readonly hosts: HostList;
  readonly remote: RemoteHosts;
  readonly panes: PaneFinder;
  readonly threads: Threads;
  readonly worktrees: Worktrees;
  readonly states: SessionStates;
  readonly statusOf: AgentStatus;
  readonly dialogs: Dialogs;
  readonly declared: DeclaredSessions;
  /** The threads of this server. */
  readonly known: KnownThreads;
  readonly server: ServerConfig;
  readonly log: Log;
  /** The settings file with our hooks, for agents that we start ourselves on this machine. */
  readonly agentSettings: string | undefined;
  /** What sessions on this machine get of our own environment. */
  readonly environment: Variables;
  /** Only this user can enter it. */
  readonly stateFolder: string;
  readonly streams: StreamThreads;
  readonly directories: AllowedHostDirectories;
  readonly say: Notices;
  /** One queue per thread: keys are pressed in the order of their commands. */
  readonly pressing: KeyedQueue;
  /** Takes a message that came as a slash command, like one that was written. */
  readonly accept: (message: AcceptedMessage, thread: ThreadRef) => void;
  readonly slash: SlashMessages;
  readonly scheduled: Scheduled;
  readonly limits: UsageLimits;
  /** Types a failed message again. */
  readonly retry: Retry;
}

export interface CommandCall {
  /** The id of the message or interaction; newer commands have larger ids. */
  readonly id: string;
  /** The thread it was given in; undefined in the channel itself. */
  readonly thread: ThreadRef | undefined;
  /** The channel or thread it was given in. */
  readonly channel: string;
  readonly rest: string;
  /** The name and the id of the user who gave it. */
  readonly by?: string;
  readonly byId?: string;
  /** When it was written (`performance.now`); undefined if it was missed. See `isFresh`. */
  readonly liveAt: number | undefined;
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly about: string;
  run(order: CommandCall, tools: CommandContext): Promise<CommandReply>;
}

export interface CommandReply extends MessageDraft {
  /** Runs after the reply was posted in this channel, because posting would reopen an archived thread. `message`: the reply. */
  readonly after?: (said: string, message: string | undefined) => Promise<void>;
}

export const replyWith = (content: string): CommandReply => ({ content });

// The command line of the agent on a host.

/** By a variable: fish has no "$0". */
const HAS = `s=\${SHELL:-sh}; tmx_program=$1 "$s" -l -i -c 'command -v "$tmx_program"' >/dev/null 2>&1 </dev/null && echo yes && exit
[ -n "$2" ] && PATH=$2 && command -v "$1" >/dev/null 2>&1 && echo yes || echo no`;

/** With our hooks, where we have a settings file. Undefined if `command` is another program, or the agent is not installed. */
export async function agentCommandOn(
  { host, command }: { readonly host: string; readonly command: readonly string[] | undefined },
  tools: Pick<CommandContext, 'config' | 'hosts' | 'agentSettings' | 'remote' | 'environment'>,
): Promise<readonly string[] | undefined> {
  const { config, hosts, agentSettings, remote, environment } = tools;
  const [program = 'claude', ...args] = command ?? config.agent.command;
  if (program !== config.agent.command[0]) return undefined;
  const isLocal = hosts.isLocal(host);
  // Our own PATH counts only here, where the session gets it.
  const path = isLocal ? (environment.PATH ?? '') : '';
  if (!(await isInstalled({ host, program, path }, hosts))) return undefined;
  const file = isLocal ? agentSettings : await remote.settings(host);
  const settings = file === undefined ? [] : ['--settings', file];
  return [program, ...settings, ...args];
}

/** When a program was last found, by host and PATH: many sessions that start at once look for it once. */
const found = new WeakMap<HostList, Map<string, number>>();
const FOUND_MS = 5_000;

async function isInstalled(
  { host, program, path }: { readonly host: string; readonly program: string; readonly path: string },
  hosts: HostList,
): Promise<boolean> {
  const known = found.get(hosts) ?? new Map<string, number>();
  found.set(hosts, known);
  const key = JSON.stringify([host, program, path]);
  if (Date.now() - (known.get(key) ?? 0) < FOUND_MS) return true;
  const there = await hosts.get(host).sh(HAS, [program, path], { doing: `look for ${program}` });
  const isThere = there.trim() === 'yes';
  if (isThere) known.set(key, Date.now());
  else known.delete(key);
  return isThere;
}
