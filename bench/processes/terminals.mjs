// Follows the terminals whose records are in its home, like the bridge, and reports its memory.

import { createLog } from '../../dist/core/log.js';
import { connectRest } from '../../dist/discord/rest.js';
import { openHome } from '../../dist/home/home.js';
import { loadStreamRecords } from '../../dist/home/stream-record.js';
import { localHost } from '../../dist/hosts/host.js';
import { followTerminal } from '../../dist/streams/terminal/terminal.js';
import { tmuxOn } from '../../dist/tmux/tmux.js';

const { root, socket, api, token, botId } = JSON.parse(process.argv[2]);
const troubles = [];
const log = createLog((line) => troubles.push(line));
const home = openHome(root);
const rest = connectRest({ api, token, log });
const tmux = tmuxOn(localHost({ name: 'here', env: process.env }), socket);
const parts = { home, tmux, rest, botId, log, server: 'local' };
let terminals = [];

process.on('message', async (question) => {
  if (question === 'memory') {
    globalThis.gc();
    process.send(process.memoryUsage().rss);
  }
  if (question === 'follow') {
    terminals = loadStreamRecords(home).map((record) => followTerminal(parts, record));
    process.send('following');
  }
  if (question === 'ended') {
    await Promise.all(terminals.map((terminal) => terminal.ended));
    process.send({
      limited: troubles.filter((line) => line.includes(' rate limited ')).length,
      failed: troubles.filter((line) => line.includes(' warn ')),
    });
  }
});
process.send('ready');
