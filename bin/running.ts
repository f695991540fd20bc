// The processes that run with this home: the bridge, which may still have messages to type, and the courier.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acceptedMessageSchema } from '../bridge/inbox.ts';
import { readJson } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { holderOf } from '../home/lock.ts';
import { printNote } from './print.ts';

/** The process id of the bridge that runs with this home. */
export function bridgePid(home: Home): number | undefined {
  return holderOf(home.path('state', 'bridge.lock'));
}

/** Text that is typed now must not come between the messages that the bridge is about to type. */
export function hasMessagesFor(home: Home, thread: string): boolean {
  if (bridgePid(home) === undefined) return false;
  const folder = home.folder('inbox');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .some((name) => readJson(join(folder, name), acceptedMessageSchema)?.channelId === thread);
}

/** Exits at once if another courier is running. */
export function startCourier(): void {
  const courier = fileURLToPath(new URL('./courier.js', import.meta.url));
  const child = spawn(process.execPath, [courier], { detached: true, stdio: 'ignore' });
  child.on('error', (error) => printNote(`Could not start the courier: ${error.message}.`)).unref();
}
