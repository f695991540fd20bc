// Looks at our home without changing it: opening it would make what is missing and mend what is wrong.

import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from './home.ts';
import { holderOf } from './lock.ts';

export type LockLook =
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly pid: number }
  /** Its holder is gone: the next one takes it. */
  | { readonly kind: 'stale' };

export type HomeLook =
  | { readonly kind: 'missing'; readonly root: string }
  | { readonly kind: 'not-a-folder'; readonly root: string }
  | {
      readonly kind: 'home';
      readonly root: string;
      readonly mode: number;
      readonly isOwn: boolean;
      /** Why nothing can be written into it: an errno such as ENOSPC. */
      readonly writeError: string | undefined;
      readonly bridge: LockLook;
      readonly courier: LockLook;
      /** Since the courier last gave a sign of life. */
      readonly beatAgeMs: number | undefined;
    };

export function lookAtHome(root: string): HomeLook {
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
    writeError: isOwn ? writeErrorIn(root) : undefined, // nothing is left in what is not ours
    bridge: lookAtLock(join(root, 'state', 'bridge.lock')),
    courier: lookAtLock(join(root, 'state', 'courier.lock')),
    beatAgeMs: beat === undefined ? undefined : Date.now() - beat.mtimeMs,
  };
}

export function lookAtLock(path: string): LockLook {
  if (!existsSync(path)) return { kind: 'free' };
  const pid = holderOf(path);
  return pid === undefined ? { kind: 'stale' } : { kind: 'held', pid };
}

/** A home to read from; its folders are not made. */
export function homeAsItIs(root: string): Home {
  return { root, folder: (name) => join(root, name), path: (...parts) => join(root, ...parts) };
}

/** A disk may be full, or read-only, whatever the modes say: only writing tells. */
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
