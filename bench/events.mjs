// Events per second through gateway, listener, router and inbox, compared with a plain socket
// that only parses them. Every event is on disk before it counts, so the disk sets the pace; the
// same run in memory, where such a file system exists, shows the cost of our own code.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { conclude, measure, PROCESSES, printTable, whole } from './support.mjs';

const COUNT = Number(process.argv[2] ?? 20_000);
const COUNT_ON_DISK = COUNT / 10;
const MEMORY = '/dev/shm';
const KINDS = {
  accepted: 'accepted, through the inbox',
  stranger: 'ignored: not on the list',
  elsewhere: 'ignored: another channel',
};

await measure(async ({ folder, start }) => {
  const feeder = start(new URL('feeder.mjs', PROCESSES));
  const env = await feeder.next();

  async function eventsASecond(file, kind, count, home) {
    const client = start(new URL(file, PROCESSES), { args: [String(count)], env: { ...env, THREADMUX_HOME: home } });
    await client.next();
    const outcome = client.next();
    feeder.tell({ kind, count });
    const { seconds } = await outcome;
    await client.stop();
    return count / seconds;
  }

  const bare = await eventsASecond('events-bare.mjs', 'accepted', COUNT, folder);
  const rows = [['bare ws and JSON.parse', COUNT, bare]];
  const ours = async (where, root, count) => {
    for (const [kind, name] of Object.entries(KINDS)) {
      const rate = await eventsASecond('events-client.mjs', kind, count, `${root}/${kind}`);
      rows.push([`${name}, ${where}`, count, rate]);
    }
  };
  await ours('on disk', folder, COUNT_ON_DISK);
  if (existsSync(MEMORY)) {
    const root = mkdtempSync(`${MEMORY}/threadmux-bench-`);
    await ours('in memory', root, COUNT).finally(() => rmSync(root, { recursive: true }));
  }

  printTable('MESSAGE_CREATE events a second', [
    ['', 'events', 'events/s', 'of bare'],
    ...rows.map(([name, count, rate]) => [name, whole(count), whole(rate), `${(rate / bare).toFixed(3)} x`]),
  ]);
  conclude(`${whole(rows[1][2])} accepted events a second, each on disk before it counts`);
});
