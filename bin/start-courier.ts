// Starts a courier of its own. One that finds another at work leaves at once.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { printNote } from './print.ts';

export function startCourier(): void {
  const courier = fileURLToPath(new URL('./courier.js', import.meta.url));
  const child = spawn(process.execPath, [courier], { detached: true, stdio: 'ignore' });
  child.on('error', (error) => printNote(`The courier could not be started: ${error.message}.`)).unref();
}
