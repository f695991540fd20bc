// Loaded before the measured program: reports on request its resident memory, and what it holds after a collection.

import { setTimeout as sleep } from 'node:timers/promises';

process.on('message', async (question) => {
  if (question !== 'memory') return;
  globalThis.gc();
  await sleep(200);
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ residentBytes: rss, heldBytes: heapUsed + external });
});
process.on('disconnect', () => process.exit());
