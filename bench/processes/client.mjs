// Our side of a measurement: REST client, gateway, listener, router, inbox and cursors, connected
// like in the bridge, without acting on messages.

import { openCursors, openInbox } from '../../dist/bridge/inbox.js';
import { listen } from '../../dist/bridge/listen.js';
import { openGateway } from '../../dist/discord/gateway.js';
import { gatewaySessionSchema } from '../../dist/discord/payloads.js';
import { connectRest } from '../../dist/discord/rest.js';
import { openThreadChannel } from '../../dist/discord/threads.js';
import { readJson, writeJson } from '../../dist/home/atomic-write.js';
import { openHome } from '../../dist/home/home.js';
import { openLogFile } from '../../dist/home/log-file.js';
import { createKnownThreads } from '../../dist/threads/connections.js';

const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 15);

/** `handled` is called with the name of every event before and after it is handled. */
export async function openClient({ env, handling = () => {}, handled = () => {} }) {
  const home = openHome(env.THREADMUX_HOME);
  const log = openLogFile(home, 'bench');
  const server = {
    name: 'bench',
    api: env.DISCORD_API_BASE,
    token: env.DISCORD_BOT_TOKEN,
    channel: env.DISCORD_CHANNEL_ID,
    allow: [env.DISCORD_ALLOWED_USERS],
    projects: [],
    onlyProjects: false,
  };
  const rest = connectRest({ token: server.token, api: server.api, log });
  const place = await openThreadChannel(rest, server.channel);
  const cursors = openCursors(`${home.folder('state')}/cursors.json`);
  const inbox = openInbox(home.folder('inbox'), cursors);
  const handle = listen({
    server,
    rest,
    channels: [server.channel],
    threads: createKnownThreads(rest, [place]),
    cursors,
    inbox,
    log,
    signal: new AbortController().signal,
    meaningOf: () => ({ kind: 'message' }),
    onAccepted: (message) => inbox.done(message.id),
  });
  openGateway({
    rest,
    token: server.token,
    intents: INTENTS,
    async handle(name, data) {
      handling(name);
      await handle(name, data);
      handled(name);
    },
    load: () => readJson(home.path('state', 'gateway.json'), gatewaySessionSchema),
    save: (session) => writeJson(home.path('state', 'gateway.json'), session),
    onFatal: (error) => {
      throw error;
    },
    log,
  });
}
