// Memory of the whole bridge with 200 sessions, each with its own thread and pane and all listed once,
// compared with the same bridge without sessions.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMessage } from '../dist/discord/messages.js';
import { connectRest } from '../dist/discord/rest.js';
import { ensureThread, openThreadChannel } from '../dist/discord/threads.js';
import { openHome } from '../dist/home/home.js';
import { openRegistry, threadRecordSchema } from '../dist/threads/registry.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { asDiscord } from '../test/support/as-discord.mjs';
import { openBotPort } from '../test/support/workspace-access.mjs';
import { paneRecord } from './pane-setup.mjs';
import {
  conclude,
  discordEnv,
  measure,
  median,
  openTmux,
  PROBED,
  PROGRAM,
  person,
  printTable,
  spread,
  until,
} from './support.mjs';

const SESSIONS = 200;
const SAMPLES = 5;
const SETTLE_SECONDS = 8;
const ROOM_MB = 10;

await measure(async ({ folder, start }) => {
  const idle = await residentKilobytes(folder, start, 'idle', 0);
  const busy = await residentKilobytes(folder, start, 'sessions', SESSIONS);
  const more = (median(busy) - median(idle)) / 1024;
  printTable(`Resident memory of the whole bridge, ${SAMPLES} samples`, [
    ['', 'median MB', 'kB from … to', 'of idle'],
    ['no session', (median(idle) / 1024).toFixed(1), spread(idle), '1.00 x'],
    [
      `${SESSIONS} sessions`,
      (median(busy) / 1024).toFixed(1),
      spread(busy),
      `${(median(busy) / median(idle)).toFixed(2)} x`,
    ],
  ]);
  conclude(`${SESSIONS} sessions take ${more.toFixed(1)} MB more than none; at most ${ROOM_MB}`, more <= ROOM_MB);
});

async function residentKilobytes(folder, start, name, sessions) {
  const { inspection, gateway } = asDiscord();
  const workspace = await startWorkspace({ dir: join(folder, name, 'workspace'), inspection });
  const { api, token, channelId } = workspace;
  const port = await openBotPort(api); // the environment variable accepts only http addresses
  const rest = connectRest({ api, token });
  const socket = join(folder, `${name}-tmux`);
  try {
    const place = await openThreadChannel(rest, channelId);
    const home = openHome(join(folder, name, 'home'));
    const registry = openRegistry(home);
    for (let n = 0; n < sessions; n++) {
      const thread = await ensureThread(place, `[agent] session-${n}`, 'Welcome');
      const where = { thread: thread.id, title: thread.name, server: 'discord', channel: channelId };
      registry.put(threadRecordSchema.parse({ ...startSession(socket, folder, n), ...where }));
      // A message in each, so that every thread has also been in a gateway event.
      await createMessage(rest, thread.id, `note-${n}`, { content: 'Working on it.' });
    }
    const env = {
      ...discordEnv({ ...workspace, api: port.api }),
      THREADMUX_HOME: home.root,
      THREADMUX_HOST: 'laptop',
      THREADMUX_TMUX_SOCKET: socket,
    };
    const bridge = start(PROGRAM, { args: ['bridge'], env, nodeOptions: PROBED });
    await until(() => gateway.connected === 1, 30);
    const listed = await list(workspace);
    if (listed.includes('session-0') !== sessions > 0) throw new Error(`it listed: ${listed}`);
    const kilobytes = [];
    for (let second = 0; second < SETTLE_SECONDS + SAMPLES; second++) {
      const { residentBytes } = await bridge.ask('memory');
      if (second >= SETTLE_SECONDS) kilobytes.push(residentBytes / 1024);
      await sleep(800);
    }
    await bridge.stop();
    return kilobytes;
  } finally {
    if (sessions > 0) execFileSync('tmux', ['-S', socket, 'kill-server']);
    await rest.close();
    port.close();
    await workspace.close();
  }
}

function startSession(socket, folder, n) {
  const tmux = openTmux(socket, folder);
  const session = `session-${n}`;
  tmux('new-session', '-d', '-s', session, '-c', folder, 'sleep', '600');
  return paneRecord(tmux, { host: 'laptop', session, socket, cwd: folder });
}

/** Asks for the list of sessions as a user, and waits for it. */
async function list(workspace) {
  const call = await person(workspace);
  const path = `/channels/${workspace.channelId}/messages`;
  const { id } = await call('POST', path, { content: '!sessions' });
  let answer;
  await until(async () => {
    const after = await call('GET', `${path}?after=${id}&limit=10`);
    answer = after.find(({ author }) => author.id === workspace.botId)?.content;
    return answer !== undefined;
  }, 30);
  return answer;
}
