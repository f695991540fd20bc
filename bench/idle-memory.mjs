// Memory while idle: our client and the whole bridge, connected, compared with a
// discord.js client that is logged in to the same workspace and does nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  conclude,
  discordEnv,
  measure,
  median,
  PROBED,
  PROCESSES,
  PROGRAM,
  printTable,
  spread,
  until,
} from './support.mjs';

const ROUNDS = 3;
const SAMPLES = 5;
/** V8 returns the pages of its start only after some idle time and several collections. */
const SETTLE_SECONDS = 10;

await measure(async ({ folder, start }) => {
  const workspace = start(new URL('workspace.mjs', PROCESSES), { args: [`${folder}/workspace`] });
  const server = await workspace.next();
  const env = { ...discordEnv(server), THREADMUX_TMUX_SOCKET: `${folder}/no-tmux` };
  const contenders = [
    { name: 'Node.js alone', file: new URL('idle-node.mjs', PROCESSES), connects: false },
    { name: 'threadmux, client', file: new URL('idle-client.mjs', PROCESSES), connects: true },
    { name: 'threadmux, whole bridge', file: PROGRAM, args: ['bridge'], connects: true },
    { name: 'discord.js, idle', file: new URL('idle-discord-js.mjs', PROCESSES), connects: true },
  ].map((contender) => ({ ...contender, kilobytes: [] }));

  for (let round = 1; round <= ROUNDS; round++) {
    const idle = [];
    for (const { file, args, connects } of contenders) {
      const home = { THREADMUX_HOME: `${folder}/home-${round}-${idle.length}` };
      idle.push(start(file, { args, env: { ...env, ...home }, nodeOptions: PROBED }));
      if (connects) await untilConnected(workspace, idle.length - 1);
    }
    // All wait at the same time, so that other load on the machine affects all of them equally.
    for (let second = 0; second < SETTLE_SECONDS; second++) {
      await Promise.all(idle.map((one) => one.ask('memory')));
      await sleep(1_000);
    }
    for (let sample = 0; sample < SAMPLES; sample++)
      for (const [at, one] of idle.entries())
        contenders[at].kilobytes.push((await one.ask('memory')).residentBytes / 1024);
    await Promise.all(idle.map((one) => one.stop()));
    await untilConnected(workspace, 0);
  }

  const theirs = median(contenders.at(-1).kilobytes);
  printTable(`Resident memory when idle, ${ROUNDS} processes each, ${SAMPLES} samples a process`, [
    ['', 'median MB', 'kB from … to', 'of discord.js'],
    ...contenders.map(({ name, kilobytes }) => [
      name,
      (median(kilobytes) / 1024).toFixed(1),
      spread(kilobytes),
      `${(median(kilobytes) / theirs).toFixed(2)} x`,
    ]),
  ]);
  const [, client, bridge] = contenders.map(({ kilobytes }) => median(kilobytes));
  conclude(
    'an idle client and a whole idle bridge take less memory than an idle discord.js client',
    client < theirs && bridge < theirs,
  );
});

function untilConnected(workspace, wanted) {
  return until(async () => (await workspace.ask('connected')).connected === wanted, 30);
}
