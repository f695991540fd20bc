// 20 projects with 60 declared sessions of a stand-in agent: how long until all run, compared with starting as many bare tmux sessions one after the other
// with the same login shell, and how much memory the bridge needs more than without them. V8 enlarges its space for young objects during the burst of starts,
// and gives it back by itself within two minutes, so memory is measured after that, without forcing a collection.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '../dist/home/home.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { asDiscord } from '../test/support/as-discord.mjs';
import { openBotPort } from '../test/support/workspace-access.mjs';
import { conclude, measure, median, openTmux, PROBED, PROGRAM, printTable, spread, until } from './support.mjs';

const PROJECTS = 20;
const EACH = 3;
const SESSIONS = PROJECTS * EACH;
const SAMPLES = 5;
const SETTLE_SECONDS = 120;
const ROOM_MB = 10;
const LIMIT_SECONDS = 10;
/** Or so many times as long as the bare ones, on a machine that is busy. */
const LIMIT_RATIO = 6;

await measure(async ({ folder, start }) => {
  // At the same time: both settle while nothing else happens.
  const [none, all] = await Promise.all([run(folder, start, 'none', 0), run(folder, start, 'all', PROJECTS)]);
  const bare = bareSeconds(folder);
  const held = (all.heldBytes - none.heldBytes) / 2 ** 20;
  const resident = (median(all.kilobytes) - median(none.kilobytes)) / 1024;
  const limit = Math.max(LIMIT_SECONDS, LIMIT_RATIO * bare);
  printTable(`${PROJECTS} projects, ${SESSIONS} declared sessions`, [
    ['', 'until all run', 'of bare', 'resident MB', 'kB from … to'],
    ['bare tmux', `${bare.toFixed(1)} s`, '1.0 x', '', ''],
    ['none', '', '', (median(none.kilobytes) / 1024).toFixed(1), spread(none.kilobytes)],
    [
      'declared',
      `${all.seconds.toFixed(1)} s`,
      `${(all.seconds / bare).toFixed(1)} x`,
      (median(all.kilobytes) / 1024).toFixed(1),
      spread(all.kilobytes),
    ],
  ]);
  conclude(`all ${SESSIONS} run after ${all.seconds.toFixed(1)} s; at most ${limit.toFixed(1)}`, all.seconds <= limit);
  conclude(
    `they need ${resident.toFixed(1)} MB more than none; at most ${ROOM_MB} (objects: ${held.toFixed(1)} MB more)`,
    resident <= ROOM_MB,
  );
});

async function run(folder, start, name, count) {
  const { inspection, gateway } = asDiscord();
  const dir = join(folder, name);
  const workspace = await startWorkspace({ dir: join(dir, 'workspace'), inspection });
  const port = await openBotPort(workspace.api);
  const home = openHome(join(dir, 'home'));
  const socket = join(folder, `${name}-tmux`);
  const ran = join(dir, 'ran');
  const agent = join(dir, 'agent');
  mkdirSync(ran);
  writeFileSync(agent, `#!/bin/sh\n: > ${ran}/$$\nexec sleep 600\n`, { mode: 0o755 });
  const projects = Array.from({ length: count }, (_, at) => {
    const path = join(dir, `project-${at}`);
    mkdirSync(path);
    const sessions = Array.from({ length: EACH }, (_, n) => ({ name: `s${at}-${n}` }));
    return { path, channel: workspace.channelId, sessions };
  });
  const server = { name: 'discord', api: port.api, channel: workspace.channelId, allow: [workspace.userId], projects };
  const file = { agents: { claude: { command: [agent] } }, servers: [{ ...server, token: workspace.token }] };
  writeFileSync(join(home.root, 'config.json'), JSON.stringify(file), { mode: 0o600 });
  const env = { THREADMUX_HOME: home.root, THREADMUX_HOST: 'laptop', THREADMUX_TMUX_SOCKET: socket, SHELL: '/bin/sh' };
  try {
    const began = performance.now();
    const bridge = start(PROGRAM, { args: ['bridge'], env, nodeOptions: PROBED });
    await until(() => gateway.connected === 1 && readdirSync(ran).length === count * EACH, 60);
    const seconds = (performance.now() - began) / 1000;
    await sleep(SETTLE_SECONDS * 1_000);
    const kilobytes = [];
    for (let sample = 0; sample < SAMPLES; sample++) {
      kilobytes.push((await bridge.ask('resident')).residentBytes / 1024);
      await sleep(1_000);
    }
    const { heldBytes } = await bridge.ask('memory');
    await bridge.stop();
    return { seconds, kilobytes, heldBytes };
  } finally {
    if (count > 0) execFileSync('tmux', ['-S', socket, 'kill-server']);
    port.close();
    await workspace.close();
  }
}

function bareSeconds(folder) {
  const tmux = openTmux(join(folder, 'bare-tmux'), folder);
  const began = performance.now();
  for (let n = 0; n < SESSIONS; n++) tmux('new-session', '-d', '-s', `s${n}`, '/bin/sh -l -i -c "exec sleep 600"');
  const seconds = (performance.now() - began) / 1000;
  tmux('kill-server');
  return seconds;
}
