// A process that follows one terminal until its end and can be killed at any moment. Needs dist/.

import { silentLog } from '../../dist/core/log.js';
import { connectRest } from '../../dist/discord/rest.js';
import { openHome } from '../../dist/home/home.js';
import { loadStreamRecord } from '../../dist/home/stream-record.js';
import { localHost } from '../../dist/hosts/host.js';
import { followTerminal } from '../../dist/streams/terminal/terminal.js';
import { tmuxOn } from '../../dist/tmux/tmux.js';

const { root, thread, socket, api, token, botId, follow } = JSON.parse(process.argv[2]);
const home = openHome(root);
const rest = connectRest({ token, api });
const tmux = tmuxOn(localHost({ name: 'here', env: process.env }), socket);
const parts = { home, tmux, rest, botId, log: silentLog, server: 'local' };
const terminal = followTerminal(parts, loadStreamRecord(home, thread), follow);
await terminal.ended;
await rest.close();
