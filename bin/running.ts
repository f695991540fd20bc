// Whether a running bridge still has messages for a thread: what is typed here must not push in between.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acceptedMessageSchema } from '../bridge/inbox.ts';
import type { Home } from '../home/home.ts';
import { holderOf } from '../home/lock.ts';
import { readJson } from '../home/whole-file.ts';
import { printNote } from './print.ts';

/** The process that runs the bridge of this home. */
export function bridgePid(home: Home): number | undefined {
  return holderOf(home.path('state', 'bridge.lock'));
}

export function hasMessagesFor(home: Home, thread: string): boolean {
  if (bridgePid(home) === undefined) return false;
  const folder = home.folder('inbox');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .some((name) => readJson(join(folder, name), acceptedMessageSchema)?.channelId === thread);
}

// Starts a courier of its own. One that finds another at work leaves at once.

export function startCourier(): void {
  const courier = fileURLToPath(new URL('./courier.js', import.meta.url));
  const child = spawn(process.execPath, [courier], { detached: true, stdio: 'ignore' });
  child.on('error', (error) => printNote(`The courier could not be started: ${error.message}.`)).unref();
}
