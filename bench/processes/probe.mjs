// Loaded before the measured program: reports on request its resident memory as it is, or after a collection with what it holds.

import { setTimeout as sleep } from 'node:timers/promises';

process.on('message', async (question) => {
  if (question === 'resident') return void process.send({ residentBytes: process.memoryUsage.rss() });
  if (question !== 'memory') return;
  globalThis.gc();
  await sleep(200);
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ residentBytes: rss, heldBytes: heapUsed + external });
});
process.on('disconnect', () => process.exit());
