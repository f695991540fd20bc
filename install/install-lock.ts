// Two installs at once take turns; none removes a home that a bridge uses.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ThreadmuxError } from '../core/errors.ts';
import { type Home, openHome } from '../home/home.ts';
import { holderOf, tryLock } from '../home/lock.ts';

const PATIENCE_MS = 10_000;

export function lockOf(root: string, name: 'bridge' | 'courier' | 'install'): string {
  return join(root, 'state', `${name}.lock`);
}

/** The second finds everything done. */
export async function locked<T>(root: string, act: (home: Home) => Promise<T>): Promise<T> {
  const home = openHome(root);
  for (let waited = 0; ; waited += 50) {
    const release = attempt(home);
    if (release !== undefined) return act(home).finally(release);
    if (waited >= PATIENCE_MS)
      throw new ThreadmuxError('busy', `another install is at work (process ${holderOf(lockOf(root, 'install'))})`, {
        hint: 'Run this again when it has ended.',
      });
    await sleep(50);
  }
}

/** An uninstall that ends just now takes the folder away under our hands. */
function attempt(home: Home): (() => void) | undefined {
  try {
    home.folder('state');
    return tryLock(lockOf(home.root, 'install'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** It would go on writing into a home that is gone. */
export function checkNoBridge(root: string): void {
  const pid = holderOf(lockOf(root, 'bridge'));
  if (pid === undefined) return;
  throw new ThreadmuxError('home_unsafe', `threadmux is running (process ${pid})`, {
    hint: 'Stop it first, then run this again.',
  });
}

export async function withInstallLock<T, R>(all: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await act(one));
  return done;
}
