// What a courier of its own does once it has detached: its letter if it carries one, then the outbox.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepTrying } from '../core/keep-trying.ts';
import { holderOf } from '../home/lock.ts';
import { openCourierContexts } from '../hooks/courier-context.ts';
import { takeCourierLock } from '../hooks/courier-lock.ts';
import { parseLetter } from '../hooks/letter.ts';
import { openOutbox } from '../hooks/outbox.ts';
import { postLetter } from '../hooks/post-letter.ts';
import type { Shared } from '../threads/shared-parts.ts';
import { type CliContext, openHookContext } from './command-context.ts';
import { openSharedParts, runCourierHere } from './run-courier.ts';

const LINGER_MS = 60_000;
const SAVE_TRIES = 3;
const LOCK_TRIES = 20;
const DELIVERY_TRIES = 20;

export async function runCourierProcess(letter: string, token: string): Promise<void> {
  try {
    const context = openHookContext('courier', token);
    const { home, log } = context;
    const isSaved = letter === '' || (await savedSoon(context, letter));
    const stop = new AbortController();
    process.once('SIGTERM', () => stop.abort());
    const isHeld = () => holderOf(home.path('state', 'courier.lock')) !== undefined;
    let release = await takeCourierLock({ home, log });
    // A letter that found no room on the disk is only here: it waits for its turn.
    for (let tries = 0; release === undefined && !isSaved && isHeld(); tries++) {
      if (tries >= LOCK_TRIES) break;
      await sleep(1_000);
      if (saved(context, letter)) return;
      release = await takeCourierLock({ home, log });
    }
    if (release === undefined && isSaved) return;
    const shared = openSharedParts(context);
    if (release === undefined) {
      // There is no room for the lock either. The reply must not be lost; nothing else is done, or written later.
      await deliverUnsaved(shared, letter);
      process.exit();
    }
    try {
      shared.prompts.takeUp();
      if (!isSaved) await deliverUnsaved(shared, letter);
      await runCourierHere(shared, { lingerMs: LINGER_MS, signal: stop.signal });
    } finally {
      await shared.close();
      release();
    }
  } catch (error) {
    tellOf(error as Error);
    process.exitCode = 1;
  }
}

async function savedSoon(context: CliContext, letter: string): Promise<boolean> {
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    if (saved(context, letter)) return true;
    await sleep(1_000);
  }
  return false;
}

async function deliverUnsaved(shared: Shared, letter: string): Promise<void> {
  const { log } = shared;
  const reading = parseLetter(letter, randomBytes(12).toString('hex'), Date.now());
  if (reading.kind !== 'letter') return log.error('unsaved letter cannot be read');
  const context = openCourierContexts(shared).of(shared.config.host);
  await keepTrying(() => postLetter(reading.letter, context), {
    ...{ firstMs: 1_000, longestMs: 60_000 },
    onFailure(error, failures) {
      log.warn('unsaved letter waits', { because: (error as Error).message });
      if (failures >= DELIVERY_TRIES) throw error;
    },
  });
}

function saved({ home }: CliContext, letter: string): boolean {
  const [, tmux = '', pane = ''] = letter.split('\n');
  const server = tmux.match(/,(\d+),\d+$/)?.[1] ?? '0';
  try {
    openOutbox(home.folder('outbox')).add(`${server}.${pane.replace('%', '')}`, letter);
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
