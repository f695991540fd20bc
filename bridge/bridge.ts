// Journey 2, from start to end: the gateway tells, `listen` takes, the inbox keeps, and each
// message is acted on in its turn.

import type { Config, Server } from '../core/config.ts';
import type { ThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Gateway, openGateway } from '../discord/gateway.ts';
import { sessionSchema } from '../discord/gateway-payload.ts';
import { connectRest, type Rest } from '../discord/rest.ts';
import { openPlace } from '../discord/threads.ts';
import { readJson, writeJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { openCursors } from './cursors.ts';
import { openInbox } from './inbox.ts';
import { createKnownThreads } from './known-threads.ts';
import { listen } from './listen.ts';

/** Guilds, messages of guilds, and what is in them. */
export const INTENTS = (1 << 0) | (1 << 9) | (1 << 15);

export interface Bridge {
  readonly rest: Rest;
  readonly gateway: Gateway;
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly config: Config;
  readonly server: Server;
  readonly home: Home;
  readonly log: Log;
  readonly onFatal: (error: ThreadmuxError) => void;
}

export async function startBridge(options: BridgeOptions): Promise<Bridge> {
  const { server, home, log } = options;
  const state = (what: string) => `${home.folder('state')}/${server.name}.${what}.json`;
  const closing = new AbortController();
  const rest = connectRest({ token: server.token, api: server.api, log });
  const channels = [...new Set([server.channel, ...server.projects.map(({ channel }) => channel)])];
  const places = await Promise.all(channels.map((channel) => openPlace(rest, channel)));
  const cursors = openCursors(state('cursors'));
  const inbox = openInbox(home.folder('inbox'), cursors);
  const handle = listen({
    server,
    rest,
    channels,
    threads: createKnownThreads(places),
    cursors,
    inbox,
    log,
    signal: closing.signal,
    onAccepted: (message) => inbox.done(message.id),
  });
  const gateway = openGateway({
    rest,
    token: server.token,
    intents: INTENTS,
    handle,
    load: () => readJson(state('gateway'), sessionSchema),
    save: (session) => writeJson(state('gateway'), session),
    onFatal: options.onFatal,
    log,
  });
  return {
    rest,
    gateway,
    async close() {
      closing.abort();
      gateway.close();
      await rest.close();
    },
  };
}
