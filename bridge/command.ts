// What every command of ours gets and gives. A command comes as a "!" message or as a slash
// command; it does not know which.

import type { Config, Server } from '../core/config.ts';
import type { InTurn } from '../core/in-turn.ts';
import type { Log } from '../core/log.ts';
import type { Draft } from '../discord/messages.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { HostDirectories } from '../streams/host-directories.ts';
import type { KnownThreads } from '../threads/known-threads.ts';
import type { Say } from '../threads/notices.ts';
import type { Panes } from '../threads/panes.ts';
import type { RemoteHosts } from '../threads/remote-hosts.ts';
import type { Threads } from '../threads/threads.ts';
import type { Hosts } from '../tmux/hosts.ts';
import type { Streams } from './streams.ts';

export interface Tools {
  readonly config: Config;
  readonly hosts: Hosts;
  readonly remote: RemoteHosts;
  readonly panes: Panes;
  readonly threads: Threads;
  /** The threads of this server. */
  readonly known: KnownThreads;
  readonly server: Server;
  readonly log: Log;
  /** The settings file with our hooks, for agents that we start ourselves on this machine. */
  readonly agentSettings: string | undefined;
  readonly streams: Streams;
  readonly directories: HostDirectories;
  readonly say: Say;
  /** By thread: keys are pressed in the order in which they were asked for. */
  readonly pressing: InTurn;
  /** Types a message once more, on the person's order. */
  readonly retry: (messageId: string, orderId: string, thread: ThreadRef) => Promise<string>;
}

export interface Order {
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
  run(order: Order, tools: Tools): Promise<Answer>;
}

export interface Answer extends Draft {
  /** To be done once it has been said, in this channel: a thread that is spoken in is not archived any more. */
  readonly after?: (said: string) => Promise<void>;
}

export const say = (content: string): Answer => ({ content });
