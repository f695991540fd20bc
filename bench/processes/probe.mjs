// Loaded before the program that is measured: tells its resident memory when it is asked.

import { setTimeout as sleep } from 'node:timers/promises';

process.on('message', async (question) => {
  if (question !== 'memory') return;
  globalThis.gc();
  await sleep(200);
  globalThis.gc();
  process.send({ residentBytes: process.memoryUsage.rss() });
});
process.on('disconnect', () => process.exit());
