#!/usr/bin/env node
// The courier as a process of its own, started by `hooks/drop`. It detaches first, because Claude
// Code ends what its hooks leave behind, and has no one to talk to but the log.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { deliver } from '../hooks/deliver.ts';
import { parseLetter } from '../hooks/letter.ts';
import { beCourier, courierDesk } from './be-courier.ts';
import { type Context, openContext } from './context.ts';

const LINGER_MS = 60_000;
const SAVE_TRIES = 5;

/** A letter that found no room on the disk: saved as soon as there is some, else delivered from memory. */
async function carryUnsaved(context: Context, letter: string): Promise<void> {
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    if (saved(context, letter)) return;
    await sleep(1_000);
  }
  const reading = parseLetter(letter, randomBytes(12).toString('hex'), Date.now());
  if (reading.kind !== 'letter') return context.log.error('unsaved letter cannot be read');
  const desk = courierDesk(context);
  for (let tries = 0; tries < 20; tries++) {
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

async function main(args: readonly string[]): Promise<void> {
  const unsaved = args.includes('--unsaved') ? ['--unsaved'] : [];
  const letter = unsaved.length > 0 ? await text(process.stdin) : '';
  if (!args.includes('--stay')) return detach(unsaved, letter);
  const context = openContext('courier');
  if (letter !== '') await carryUnsaved(context, letter.replace(/\n$/, ''));
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  await beCourier(context, LINGER_MS, stop.signal);
}

function detach(args: readonly string[], letter: string): void {
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, '--stay', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.end(letter);
  child.unref();
}

main(process.argv.slice(2)).catch((error: Error) => {
  try {
    openContext('courier').log.error('courier failed', { because: error.message });
  } catch {
    // No configuration, no log: there is nobody to tell.
  }
  process.exitCode = 1;
});
