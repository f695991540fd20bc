// Who may post and write the registry: one process per home, by lock. It gives a sign of life every few seconds; one that
// hangs is replaced.

import { utimesSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import type { Home } from '../home/home.ts';
import { attempt, discard, forgetKept } from '../home/keep.ts';
import { holderOf, tryLock } from '../home/lock.ts';

export const BEAT_MS = 5_000;
/** Missing heartbeats after which a courier counts as hung. */
const HUNG_BEATS = 12;

interface LockOptions {
  readonly home: Home;
  readonly log: Log;
  /** The bridge takes over from a courier that runs as a process of its own. */
  readonly takeOver?: boolean;
  readonly beatMs?: number;
}

/** The right to post and to write the registry: one process per home. Undefined while another one has it. */
export async function takeCourierLock(options: LockOptions): Promise<(() => void) | undefined> {
  const { home, log } = options;
  const lock = join(home.folder('state'), 'courier.lock');
  let free: (() => void) | undefined;
  const isWritable = attempt(lock, () => {
    free = tryLock(lock);
  });
  if (!isWritable) return undefined; // a full disk: the caller tries again
  free ??= await (options.takeOver === true ? takeOver(lock, log) : replaceHung(options, lock));
  const release = free;
  if (release === undefined) return undefined;
  notePid(home);
  log.debug('courier at work', { pid: process.pid });
  return () => {
    discard(home.path('state', 'courier.pid')); // pids are used again
    release();
  };
}

const HAND_OVER_MS = 8_000;

/** It finishes its letter and leaves; one that hangs is ended. */
async function takeOver(lock: string, log: Log): Promise<(() => void) | undefined> {
  const pid = holderOf(lock);
  if (pid !== undefined) {
    log.info('taking over from a courier', { pid });
    end(pid, 'SIGTERM');
  }
  for (const began = Date.now(); Date.now() - began < 2 * HAND_OVER_MS; await sleep(20)) {
    const free = tryLock(lock);
    if (free !== undefined) return free;
    if (Date.now() - began > HAND_OVER_MS && holderOf(lock) === pid && pid !== undefined)
      end(pid, 'SIGKILL');
  }
  return undefined;
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has left by itself.
  }
}

/** A machine that just woke up looks like one that hung: it gets the time of two heartbeats more. */
async function replaceHung(options: LockOptions, lock: string): Promise<(() => void) | undefined> {
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
export function beat(home: Home): void {
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
