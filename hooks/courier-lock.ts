// The courier's lock: only its holder, one process per home, may post and write the registry. The holder writes a heartbeat
// every few seconds; a courier that hangs is replaced.

import { utimesSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import { cancelPendingWrite, removeBestEffort, tryBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { holderOf, tryLock } from '../home/lock.ts';

export const LOCK_REFRESH_MS = 5_000;
/** Missing heartbeats after which a courier counts as hung. */
const HUNG_BEATS = 12;

interface LockOptions {
  readonly home: Home;
  readonly log: Log;
  /** The bridge takes over from a courier that runs as a separate process. */
  readonly takeOver?: boolean;
  readonly beatMs?: number;
}

/** Returns a function that releases the lock; undefined while another process holds it. */
export async function takeCourierLock(options: LockOptions): Promise<(() => void) | undefined> {
  const { home, log } = options;
  const lock = join(home.folder('state'), 'courier.lock');
  let free: (() => void) | undefined;
  const isWritable = tryBestEffort(lock, () => {
    free = tryLock(lock);
  });
  if (!isWritable) return undefined; // a full disk: the caller tries again
  free ??= await (options.takeOver === true ? takeOver(lock, log) : replaceHung(options, lock));
  const release = free;
  if (release === undefined) return undefined;
  notePid(home);
  return () => {
    removeBestEffort(home.path('state', 'courier.pid')); // pids are reused
    release();
  };
}

const HAND_OVER_MS = 8_000;

/** The other courier finishes its letter and exits; if it hangs, it is killed. */
async function takeOver(lock: string, log: Log): Promise<(() => void) | undefined> {
  const pid = holderOf(lock);
  if (pid !== undefined) {
    log.info('taking over from a courier', { pid });
    end(pid, 'SIGTERM');
  }
  for (const began = Date.now(); Date.now() - began < 2 * HAND_OVER_MS; await sleep(20)) {
    const free = tryLock(lock);
    if (free !== undefined) return free;
    if (Date.now() - began > HAND_OVER_MS && holderOf(lock) === pid && pid !== undefined) end(pid, 'SIGKILL');
  }
  return undefined;
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

/** After sleep of the machine, every courier looks hung: wait for two more heartbeats. */
async function replaceHung(options: LockOptions, lock: string): Promise<(() => void) | undefined> {
  const beatMs = options.beatMs ?? LOCK_REFRESH_MS;
  const isHung = async () => {
    const { mtimeMs } = await stat(options.home.path('state', 'courier.pid')).catch(() => ({ mtimeMs: Date.now() }));
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

/** `drop` compares letters with the time of this file, which a hung courier no longer updates. */
export function refreshCourierLock(home: Home): void {
  const now = new Date();
  try {
    utimesSync(home.path('state', 'courier.pid'), now, now);
  } catch {
    notePid(home); // the file was removed, or could not be written before
  }
}

/** Without this file the next hook starts another courier, which finds the lock held and exits. */
function notePid(home: Home): void {
  const path = home.path('state', 'courier.pid');
  cancelPendingWrite(path);
  tryBestEffort(path, () => writeFileSync(path, `${process.pid}\n`, { mode: 0o600 }));
}
