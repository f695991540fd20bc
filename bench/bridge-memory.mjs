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
import { openBotPort, signIn } from '../test/support/workspace-access.mjs';
import { conclude, measure, median, PROBE, PROGRAM, printTable, spread, until } from './support.mjs';

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
      DISCORD_API_BASE: port.api,
      DISCORD_BOT_TOKEN: token,
      DISCORD_CHANNEL_ID: channelId,
      DISCORD_ALLOWED_USERS: workspace.userId,
      THREADMUX_HOME: home.root,
      THREADMUX_HOST: 'laptop',
      THREADMUX_TMUX_SOCKET: socket,
    };
    const nodeOptions = ['--expose-gc', '--import', PROBE];
    const bridge = start(PROGRAM, { args: ['bridge'], env, nodeOptions });
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
  const format = '#{pid} #{pane_id} #{pane_pid} #{session_id} #{session_name} #{pane_current_command}';
  const args = ['-S', socket, '-f', '/dev/null', 'new-session', '-d', '-P', '-F', format];
  const [serverPid, paneId, panePid, sessionId, sessionName] = execFileSync(
    'tmux',
    [...args, '-s', `session-${n}`, '-c', folder, 'sleep', '600'],
    { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' } },
  )
    .trim()
    .split(' ');
  return {
    host: 'laptop',
    socket,
    serverPid: Number(serverPid),
    paneId,
    panePid: Number(panePid),
    sessionId,
    sessionName,
    command: 'sleep',
    cwd: folder,
    claudeSession: '',
    transcript: '',
    state: 'idle',
    shell: 'no',
    at: Date.now(),
  };
}

/** Asks for the list of sessions as a user, and waits for it. */
async function list({ newLink, url, channelId, botId }) {
  const { headers: mine } = await signIn(newLink());
  const headers = { ...mine, 'content-type': 'application/json' };
  const path = `${url}/api/v10/channels/${channelId}/messages`;
  const asked = await fetch(path, { method: 'POST', headers, body: JSON.stringify({ content: '!sessions' }) });
  const { id } = await asked.json();
  let answer;
  await until(async () => {
    const after = await (await fetch(`${path}?after=${id}&limit=10`, { headers })).json();
    answer = after.find(({ author }) => author.id === botId)?.content;
    return answer !== undefined;
  }, 30);
  return answer;
}
