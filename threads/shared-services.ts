// Everything that both journeys share: hosts, connections, the registry, receipts and prompts. Opened only by the
// process with the courier's lock, which is the only writer of the registry.

import type { Config, ConfigEnvironment, ServerConfig } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import type { RestOptions } from '../discord/rest.ts';
import { retryPendingWrites } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import type { LiveConfig } from '../home/live-config.ts';
import { repositoryAt } from '../hosts/repository.ts';
import { type HostList, openHostList } from '../tmux/host-list.ts';
import { type Connections, openConnections } from './connections.ts';
import { createPaneFinder, isAlive, type PaneFinder } from './panes.ts';
import type { PromptsOptions } from './prompts/locate.ts';
import { openPrompts, type Prompts } from './prompts/prompts.ts';
import { createPromptWatch, type WatchTimes } from './prompts/watch-prompt.ts';
import { createReceipts, type Receipts } from './receipts.ts';
import { openRemoteHosts, type RemoteHosts } from './remote-hosts.ts';
import { createSessionLookup, type SessionLookup } from './session-lookup.ts';
import { openThreads, type Threads } from './session-threads.ts';
import { openWorktrees, type Worktrees } from './worktrees.ts';

export interface Shared {
  readonly home: Home;
  readonly config: Config;
  readonly log: Log;
  readonly hosts: HostList;
  readonly connections: Connections;
  readonly threads: Threads;
  readonly receipts: Receipts;
  readonly panes: PaneFinder;
  readonly prompts: Prompts;
  readonly sessionOf: SessionLookup;
  readonly remote: RemoteHosts;
  /** Undefined if nobody keeps the configuration up to date. */
  readonly live: LiveConfig | undefined;
  readonly worktrees: Worktrees;
  /** tmux reported that sessions were created, renamed or closed. */
  readonly sessionsChanged: { tell(): void; listen(listener: () => void): void };
  close(): Promise<void>;
}

interface SharedOptions {
  readonly home: Home;
  readonly config: Config;
  /** Asked each time: the local workspace may start later. */
  readonly servers: () => readonly ServerConfig[];
  readonly env: ConfigEnvironment;
  readonly live?: LiveConfig;
  readonly log: Log;
  readonly sshConfig?: string;
  /** How often and how long prompts are looked at. */
  readonly prompts?: WatchTimes & Pick<PromptsOptions, 'checkAfterMs'>;
  readonly rest?: Pick<RestOptions, 'perSecond'>;
  /** The scripts and settings for other hosts, by their path in our home there. */
  readonly hostFiles: (name: string) => Readonly<Record<string, string>>;
}

export function openShared(options: SharedOptions): Shared {
  const { home, config, log } = options;
  const hosts = openHostList({ ...options, onAnswer: (host) => remote.answered(host) });
  const connections = openConnections(options.servers, { ...options.rest, log });
  const remote: RemoteHosts = openRemoteHosts({ hosts, name: config.host, files: options.hostFiles, log, home });
  const worktrees = openWorktrees({ home, config, hosts, userHome: remote.userHome });
  const threads = openThreads({
    home,
    config,
    connections,
    log,
    isAlive: (record) => isAlive(hosts, record),
    userHome: remote.userHome,
    originOf: worktrees.originOf,
    repositoryAt: (host, directory) => repositoryAt(hosts.get(host), directory),
  });
  const { registry } = threads;
  const sessionOf = createSessionLookup(hosts, registry);
  const listeners: (() => void)[] = [];
  const prompts = openPrompts({
    home,
    threads,
    log,
    sessionOf,
    hosts,
    remote,
    ...options.prompts,
    watch: createPromptWatch(hosts, registry, options.prompts),
  });
  return {
    home,
    config,
    log,
    hosts,
    connections,
    threads,
    prompts,
    sessionOf,
    remote,
    worktrees,
    live: options.live,
    sessionsChanged: {
      tell: () => {
        for (const listener of listeners) listener();
      },
      listen: (listener) => void listeners.push(listener),
    },
    receipts: createReceipts(registry),
    panes: createPaneFinder({ config, home, hosts }, threads),
    async close() {
      prompts.close();
      retryPendingWrites();
      await Promise.all([connections.close(), hosts.close()]);
    },
  };
}
