// The minimum work for a message: read it from the socket and parse it.

import { WebSocket } from 'ws';

const COUNT = Number(process.argv[2]);
let begun;
let done = 0;

process.on('disconnect', () => process.exit());
const socket = new WebSocket(process.env.DISCORD_API_BASE.replace(/^http/, 'ws'));
socket.on('message', (text) => {
  const { op, t } = JSON.parse(text);
  if (op === 10) socket.send(JSON.stringify({ op: 2, d: {} }));
  if (t === 'GUILD_CREATE') process.send('ready');
  if (t !== 'MESSAGE_CREATE') return;
  begun ??= performance.now();
  if (++done === COUNT) process.send({ seconds: (performance.now() - begun) / 1000 });
});
