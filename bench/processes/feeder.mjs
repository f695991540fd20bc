// As much of Discord as a client needs to connect, and then as many messages as fast as they are
// accepted. All messages are built before the first is sent, so that building them is not measured.

import { createServer } from 'node:http';
import { setImmediate as breathe } from 'node:timers/promises';
import { WebSocketServer } from 'ws';

const [BOT, GUILD, CHANNEL, THREAD, FOREIGN, LISTED, STRANGER] = Array.from({ length: 7 }, (_, at) =>
  String(1_200_000_000_000_000_000n + BigInt(at)),
);
const MAX_BUFFERED = 1 << 20;

/** The differences between the kinds of messages: their channel and author. */
const KINDS = {
  accepted: { channel_id: THREAD, author: LISTED },
  stranger: { channel_id: THREAD, author: STRANGER },
  elsewhere: { channel_id: FOREIGN, author: STRANGER },
};

const thread = {
  id: THREAD,
  type: 11,
  name: '[agent] web',
  guild_id: GUILD,
  parent_id: CHANNEL,
  owner_id: BOT,
  thread_metadata: { archived: false, locked: false, archive_timestamp: '2025-01-01T00:00:00Z' },
};
const ANSWERS = {
  '/users/@me': { id: BOT, username: 'bot', bot: true },
  [`/channels/${CHANNEL}`]: { id: CHANNEL, type: 0, guild_id: GUILD },
  [`/channels/${FOREIGN}`]: { id: FOREIGN, type: 0, guild_id: GUILD },
};

const server = createServer((request, response) => {
  const url = `ws://127.0.0.1:${server.address().port}`;
  const session_start_limit = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 };
  const path = request.url.replace('/api/v10', '');
  const answer = path === '/gateway/bot' ? { url, shards: 1, session_start_limit } : ANSWERS[path];
  response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer ?? { message: 'Unknown', code: 0 }));
});

let client;
let seq = 0;
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  client = socket;
  seq = 0;
  socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: 41_250 } }));
  socket.on('message', (text) => {
    const { op } = JSON.parse(text);
    if (op === 1) socket.send(JSON.stringify({ op: 11 }));
    if (op === 2) greet(socket);
  });
});

function greet(socket) {
  const resume_gateway_url = `ws://127.0.0.1:${server.address().port}`;
  const application = { id: BOT, flags: 1 << 19 };
  const user = { id: BOT, username: 'bot', bot: true };
  socket.send(dispatch('READY', { v: 10, user, session_id: 's', resume_gateway_url, application }));
  socket.send(dispatch('GUILD_CREATE', { id: GUILD, threads: [thread], channels: [] }));
}

function dispatch(t, d) {
  seq += 1;
  return JSON.stringify({ op: 0, t, s: seq, d });
}

async function feed(kind, count) {
  const first = BigInt(Date.now() + 1_000 - 1_420_070_400_000) << 22n;
  const frames = Array.from({ length: count }, (_, at) => {
    const id = String(first + BigInt(at));
    return dispatch('MESSAGE_CREATE', message(id, KINDS[kind]));
  });
  for (const frame of frames) {
    client.send(frame);
    while (client.bufferedAmount > MAX_BUFFERED) await breathe();
  }
}

/** With every field that Discord sends, used or not. */
function message(id, { channel_id, author }) {
  return {
    id,
    channel_id,
    guild_id: GUILD,
    type: 0,
    channel_type: 11,
    tts: false,
    pinned: false,
    content: `Please look at the failing test ${id} once more, and say what it needs to pass.`,
    author: {
      id: author,
      username: 'someone',
      global_name: 'Some One',
      discriminator: '0',
      avatar: 'a5c1f0e2d3b4a5c1f0e2d3b4a5c1f0e2',
      public_flags: 0,
      clan: null,
    },
    member: {
      roles: [],
      nick: null,
      mute: false,
      deaf: false,
      pending: false,
      flags: 0,
      joined_at: '2025-01-01T00:00:00.000000+00:00',
    },
    timestamp: '2025-01-01T00:00:00.000000+00:00',
    edited_timestamp: null,
    flags: 0,
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    attachments: [],
    embeds: [],
    components: [],
  };
}

process.on('message', ({ kind, count }) => feed(kind, count));
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () =>
  process.send({
    DISCORD_API_BASE: `http://127.0.0.1:${server.address().port}/api/v10`,
    DISCORD_BOT_TOKEN: 'of-no-use-elsewhere',
    DISCORD_CHANNEL_ID: CHANNEL,
    DISCORD_ALLOWED_USERS: LISTED,
  }),
);
