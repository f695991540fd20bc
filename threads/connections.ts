// One REST client per server, shared by everything in this process, so that one limiter sees every request.

import type { ServerConfig } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { connectRest, type Rest, type RestOptions } from '../discord/rest.ts';
import { openThreadChannel, type ThreadChannel } from '../discord/threads.ts';

interface Connection {
  readonly server: ServerConfig;
  readonly rest: Rest;
  /** The channel, and who we are there; asked for once. */
  place(channel: string): Promise<ThreadChannel>;
}

export interface Connections {
  all(): readonly Connection[];
  of(server: ServerConfig): Connection;
  named(name: string): Connection | undefined;
  close(): Promise<void>;
}

/** `servers` is asked each time: the configuration may change, and the local workspace may start later. */
export function openConnections(
  servers: () => readonly ServerConfig[],
  options: Pick<RestOptions, 'perSecond'> & { readonly log: Log },
): Connections {
  const open = new Map<string, Omit<Connection, 'server'>>();

  /** The same server may come as another object each time, so what is known is kept by its address and token. */
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
  return {
    of,
    all,
    named: (name) => all().find(({ server }) => server.name === name),
    close: async () => {
      await Promise.all([...open.values()].map(({ rest }) => rest.close()));
    },
  };
}

export function channelsOf(server: ServerConfig): readonly string[] {
  return [...new Set([server.channel, ...server.projects.map(({ channel }) => channel)])];
}
