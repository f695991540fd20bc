// One REST client per server, shared by everything in this process, so that one limiter sees every request.

import type { ServerConfig } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { channelSchema, type DiscordChannel } from '../discord/payloads.ts';
import { connectRest, type Rest, type RestOptions } from '../discord/rest.ts';
import { getThread, openThreadChannel, ourThread, type ThreadChannel, type ThreadRef } from '../discord/threads.ts';
import type { Threads } from './session-threads.ts';

interface Connection {
  readonly server: ServerConfig;
  readonly rest: Rest;
  /** The channel and our user id there; requested once. */
  place(channel: string): Promise<ThreadChannel>;
}

export interface Connections {
  all(): readonly Connection[];
  of(server: ServerConfig): Connection;
  named(name: string): Connection | undefined;
  close(): Promise<void>;
}

/** `servers` is called each time, because the configuration may change and the local workspace may start later. */
export function openConnections(
  servers: () => readonly ServerConfig[],
  options: Pick<RestOptions, 'perSecond'> & { readonly log: Log },
): Connections {
  const open = new Map<string, Omit<Connection, 'server'>>();

  /** Keyed by address and token, because the same server may be passed as a different object. */
  function of(server: ServerConfig): Connection {
    const key = `${server.api} ${server.token}`;
    const known = open.get(key) ?? connect(server);
    open.set(key, known);
    return { ...known, server };
  }

  function connect(server: ServerConfig): Omit<Connection, 'server'> {
    const rest = connectRest({ ...server, ...options });
    const places = new Map<string, Promise<ThreadChannel>>();
    return {
      rest,
      place(channel) {
        const place = places.get(channel) ?? openThreadChannel(rest, channel);
        places.set(channel, place);
        place.catch(() => places.delete(channel)); // asked again next time
        return place;
      },
    };
  }

  const all = () => servers().map(of);
  const named = (name: string) => {
    const server = servers().find((one) => one.name === name);
    return server && of(server);
  };
  return {
    of,
    all,
    named,
    close: async () => {
      await Promise.all([...open.values()].map(({ rest }) => rest.close()));
    },
  };
}

export function channelsOf(server: ServerConfig): readonly string[] {
  return [...new Set([server.channel, ...server.projects.map(({ channel }) => channel)])];
}

// Our threads: created by our bot in one of our channels, or adopted there. A channel that talks to a session is like a
// thread, too. Messages contain only the thread's id, so the rest is kept here and requested if it is missing.

export interface KnownThreads {
  readonly rest: Rest;
  /** A thread as the gateway reports it. */
  hear(channel: unknown): ThreadRef | undefined;
  /** A thread that we created or found. */
  learn(thread: ThreadRef): void;
  forget(id: string): void;
  find(id: string): Promise<ThreadRef | undefined>;
  all(): readonly ThreadRef[];
}

/** How many ids of other people's threads are remembered. */
const FOREIGN_KEPT = 1_000;

export function createKnownThreads(
  rest: Rest,
  places: readonly ThreadChannel[],
  sessions?: Pick<Threads, 'registry' | 'talkIn'>,
): KnownThreads {
  const isAdopted = (thread: string) => (sessions?.registry.get(thread)?.adopted ?? 'no') !== 'no';
  const ours = new Map<string, ThreadRef>();
  const foreign = new Set<string>();
  const ask = new Map<string, Promise<ThreadRef | undefined>>();

  function hear(data: unknown): ThreadRef | undefined {
    const channel: DiscordChannel | undefined = channelSchema.safeParse(data).data;
    if (channel === undefined) return undefined;
    const thread = places.flatMap((place) => ourThread(place, channel, isAdopted))[0];
    if (thread === undefined) ours.delete(channel.id);
    else ours.set(thread.id, thread);
    return thread;
  }

  async function fetch(id: string): Promise<ThreadRef | undefined> {
    for (const place of places) {
      const thread = await getThread(place, id, isAdopted);
      if (thread !== undefined) {
        ours.set(id, thread);
        return thread;
      }
    }
    if (foreign.size >= FOREIGN_KEPT) foreign.clear();
    foreign.add(id);
    return undefined;
  }

  function channelAsThread(id: string): ThreadRef | undefined {
    const title = sessions?.talkIn(id)?.title;
    if (title === undefined) return undefined;
    return { id, title, parentId: id, archived: false, lastMessageId: undefined };
  }

  return {
    rest,
    hear,
    learn: (thread) => void ours.set(thread.id, thread),
    forget: (id) => void ours.delete(id),
    all: () => [...ours.values()],
    async find(id) {
      if (places.some(({ channelId }) => channelId === id)) return channelAsThread(id);
      if (foreign.has(id) && !isAdopted(id)) return undefined;
      const known = ours.get(id);
      if (known !== undefined) return known;
      const asked = ask.get(id) ?? fetch(id).finally(() => ask.delete(id));
      ask.set(id, asked);
      return asked;
    },
  };
}
