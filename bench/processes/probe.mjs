// Loaded before the measured program: reports its resident memory on request.

import { setTimeout as sleep } from 'node:timers/promises';

process.on('message', async (question) => {
  if (question !== 'memory') return;
  globalThis.gc();
  await sleep(200);
  globalThis.gc();
  process.send({ residentBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
