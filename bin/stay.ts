// What a courier of its own does once it has detached: its letter if it carries one, then the outbox.

import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deliver } from '../hooks/deliver.ts';
import { parseLetter } from '../hooks/letter.ts';
import { beCourier, courierDesk } from './be-courier.ts';
import { type Context, openHookContext } from './context.ts';

const LINGER_MS = 60_000;
const SAVE_TRIES = 3;
const DELIVERY_TRIES = 20;

export async function stay(letter: string, token: string): Promise<void> {
  try {
    const context = openHookContext('courier', token);
    if (letter !== '') await carryUnsaved(context, letter);
    const stop = new AbortController();
    process.once('SIGTERM', () => stop.abort());
    await beCourier(context, LINGER_MS, stop.signal);
  } catch (error) {
    tellOf(error as Error);
    process.exitCode = 1;
  }
}

/** A letter that found no room on the disk: saved as soon as there is some, else delivered from memory. */
async function carryUnsaved(context: Context, letter: string): Promise<void> {
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    if (saved(context, letter)) return;
    await sleep(1_000);
  }
  const reading = parseLetter(letter, randomBytes(12).toString('hex'), Date.now());
  if (reading.kind !== 'letter') return context.log.error('unsaved letter cannot be read');
  const desk = courierDesk(context);
  for (let tries = 0; tries < DELIVERY_TRIES; tries++) {
    try {
      await deliver(reading.letter, desk);
      break;
    } catch (error) {
      context.log.warn('unsaved letter waits', { because: (error as Error).message });
      await sleep(Math.min(60_000, 1_000 * 2 ** tries));
    }
  }
  await desk.close();
}

function saved({ home }: Context, letter: string): boolean {
  const [, tmux = '', pane = ''] = letter.split('\n');
  const server = tmux.match(/,(\d+),\d+$/)?.[1] ?? '0';
  try {
    const box = join(home.folder('outbox'), `${server}.${pane.replace('%', '')}`);
    mkdirSync(box, { recursive: true, mode: 0o700 });
    const temp = join(box, `.${process.pid}`);
    try {
      writeFileSync(temp, letter, { mode: 0o600 });
      // Behind every number that `drop` gives away: nothing it could overtake was written later.
      renameSync(temp, join(box, `${Date.now()}.${process.pid}`));
    } catch (error) {
      rmSync(temp, { force: true });
      throw error;
    }
    return true;
  } catch {
    return false;
  }
}

function tellOf(error: Error): void {
  try {
    openHookContext('courier').log.error('courier failed', { because: error.message });
  } catch {
    // No configuration, no log: there is nobody to tell.
  }
}
