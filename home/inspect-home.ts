// Inspects our home without changing it; `openHome` would create missing folders and fix permissions.

import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.ts';
import { holderOf } from './lock.ts';

export type LockState =
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly pid: number }
  /** Its holder has ended: the next process takes it. */
  | { readonly kind: 'stale' };

export type HomeState =
  | { readonly kind: 'missing'; readonly root: string }
  | { readonly kind: 'not-a-folder'; readonly root: string }
  | {
      readonly kind: 'home';
      readonly root: string;
      readonly mode: number;
      readonly isOwn: boolean;
      /** The errno of a failed write, such as ENOSPC. */
      readonly writeError: string | undefined;
      readonly bridge: LockState;
      readonly courier: LockState;
      /** Since the courier's last heartbeat. */
      readonly beatAgeMs: number | undefined;
    };

export function inspectHome(root: string): HomeState {
  const stat = lstatSync(root, { throwIfNoEntry: false });
  if (stat === undefined) return { kind: 'missing', root };
  if (!stat.isDirectory()) return { kind: 'not-a-folder', root };
  const isOwn = stat.uid === (process.getuid?.() ?? stat.uid);
  const beat = statSync(join(root, 'state', 'courier.pid'), { throwIfNoEntry: false });
  return {
    kind: 'home',
    root,
    mode: stat.mode & 0o777,
    isOwn,
    writeError: isOwn ? writeErrorIn(root) : undefined, // never write into someone else's folder
    bridge: inspectLock(join(root, 'state', 'bridge.lock')),
    courier: inspectLock(join(root, 'state', 'courier.lock')),
    beatAgeMs: beat === undefined ? undefined : Date.now() - beat.mtimeMs,
  };
}

export function inspectLock(path: string): LockState {
  if (!existsSync(path)) return { kind: 'free' };
  const pid = holderOf(path);
  return pid === undefined ? { kind: 'stale' } : { kind: 'held', pid };
}

/** A home to read from: its folders are not created. */
export function homeAsItIs(root: string): Home {
  return { root, folder: (name) => join(root, name), path: (...parts) => join(root, ...parts) };
}

/** The permissions do not tell whether the disk is full or read-only; only a write does. */
function writeErrorIn(folder: string): string | undefined {
  const path = join(folder, `.${randomBytes(9).toString('base64url')}.tmp`);
  try {
    writeFileSync(path, 'can this be written?\n', { flag: 'wx', mode: 0o600 });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    rmSync(path, { force: true });
  }
}
