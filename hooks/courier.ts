// The courier: takes letters from the outbox, each pane's in order, and delivers them. One a host,
// by lock. A letter leaves the outbox only after it was delivered; one that cannot be stays first.

import { utimesSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Home } from '../home/home.ts';
import { attempt, discard, forgetKept } from '../home/keep.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import { type Letter, readLetter } from './letter.ts';
import { openOutbox } from './outbox.ts';

export interface CourierOptions {
  readonly home: Home;
  readonly log: Log;
  readonly deliver: (letter: Letter) => Promise<void>;
  /** Whether something else is still under way, such as a turn that is followed. */
  readonly isBusy?: () => boolean;
  /** Leaves after so long with nothing to do; where the bridge runs, never. */
  readonly lingerMs: number;
  readonly signal: AbortSignal;
  readonly beatMs?: number;
}

const BEAT_MS = 5_000;
const LOOK_MS = 2_000;
const LONGEST_WAIT_MS = 60_000;
/** Missing heartbeats after which a courier counts as hung. */
const HUNG_BEATS = 12;

/** Resolves when the courier has left: false if another one is at work. */
export async function runCourier(options: CourierOptions): Promise<boolean> {
  const { home, log, signal } = options;
  const release = await takeOffice(options);
  if (release === undefined) return false;
  const outbox = openOutbox(home.folder('outbox'));
  const working = new Set<string>();
  const told = new Set<string>();
  /** Where the disk became read-only, a letter stays after its delivery, and must not be delivered again. */
  const delivered = new Set<string>();
  let busyAt = Date.now();

  async function work(box: string): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const path = outbox.letters(box).find((one) => !told.has(one));
      if (path === undefined) return;
      try {
        await handle(path);
        failures = 0;
      } catch (error) {
        failures++;
        log.warn('letter waits', { box, failures, because: (error as Error).message });
        const waitMs = Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures) * (0.5 + Math.random() / 2);
        await sleep(waitMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  async function handle(path: string): Promise<void> {
    const reading = readLetter(path);
    switch (reading.kind) {
      case 'newer':
        told.add(path);
        return log.warn('letter of a newer version left alone', { path });
      case 'corrupt':
        return log.error('corrupt letter set aside', {
          because: reading.why,
          kept: outbox.setAside(path),
        });
      case 'letter':
        if (!delivered.has(path))
          await options.deliver(reading.letter).catch((error: unknown) => {
            if (!isHopeless(error)) throw error;
            log.error('letter refused for good, set aside', {
              because: (error as Error).message,
              kept: outbox.setAside(path),
            });
          });
    }
    delivered.add(path);
    outbox.remove(path);
    delivered.delete(path);
  }

  function start(box: string): void {
    if (working.has(box)) return;
    working.add(box);
    void work(box).finally(() => {
      working.delete(box);
      busyAt = Date.now();
    });
  }

  const look = () => outbox.boxes().forEach(start);
  outbox.sweep();
  const stopWatching = outbox.watch(start);
  const looking = setInterval(look, LOOK_MS);
  const beating = setInterval(() => beat(home), options.beatMs ?? BEAT_MS);
  try {
    look();
    while (!signal.aborted) {
      if (working.size > 0 || options.isBusy?.()) busyAt = Date.now();
      if (Date.now() - busyAt >= options.lingerMs) break;
      await sleep(Math.min(1_000, options.lingerMs), undefined, { signal }).catch(() => {});
    }
  } finally {
    clearInterval(looking);
    clearInterval(beating);
    stopWatching();
    discard(home.path('state', 'courier.pid')); // pids are used again
    release();
  }
  return true;
}

/** Refused as it is, it will be refused again: a fault of ours that must not stop the session's letters. */
function isHopeless(error: unknown): boolean {
  if (isThreadmuxError(error, 'name_refused')) return true; // a session whose name no title can hold
  return isThreadmuxError(error, 'discord_refused') && error.answer?.status === 400;
}

async function takeOffice(options: CourierOptions): Promise<(() => void) | undefined> {
  const { home, log } = options;
  const lock = join(home.folder('state'), 'courier.lock');
  let release: (() => void) | undefined;
  const isWritable = attempt(lock, () => {
    release = tryLock(lock);
  });
  if (!isWritable) return undefined; // a full disk: whoever runs us tries again
  release ??= await replaceHung(options, lock);
  if (release === undefined) return undefined;
  notePid(home);
  log.debug('courier at work', { pid: process.pid });
  return release;
}

/** A machine that just woke up looks like one that hung: it gets the time of two heartbeats more. */
async function replaceHung(
  options: CourierOptions,
  lock: string,
): Promise<(() => void) | undefined> {
  const beatMs = options.beatMs ?? BEAT_MS;
  const isHung = async () => {
    const { mtimeMs } = await stat(options.home.path('state', 'courier.pid')).catch(() => ({
      mtimeMs: Date.now(),
    }));
    return Date.now() - mtimeMs > HUNG_BEATS * beatMs;
  };
  if (!(await isHung())) return undefined;
  await sleep(2 * beatMs);
  const pid = holderOf(lock);
  if (!(await isHung())) return undefined;
  if (pid !== undefined && pid !== process.pid) {
    options.log.error('courier hung, replaced', { pid });
    process.kill(pid, 'SIGKILL');
    for (let tries = 0; holderOf(lock) !== undefined && tries < 50; tries++) await sleep(20);
  }
  return tryLock(lock);
}

/** `drop` compares letters with this file's time: a courier that hangs stops touching it. */
function beat(home: Home): void {
  const now = new Date();
  try {
    utimesSync(home.path('state', 'courier.pid'), now, now);
  } catch {
    notePid(home); // removed by hand, or there was no room for it
  }
}

/** Without it the next hook starts another courier, which finds the lock taken and leaves. */
function notePid(home: Home): void {
  const path = home.path('state', 'courier.pid');
  forgetKept(path);
  attempt(path, () => writeFileSync(path, `${process.pid}\n`, { mode: 0o600 }));
}
