// Our home, ~/.threadmux: all files that we keep on a machine, readable only by the user (0700). We never use a predictable
// name in a shared temporary directory.

import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConfigEnvironment } from '../core/config.ts';
import { fileError, ThreadmuxError } from '../core/errors.ts';
import { writeWhole } from './atomic-write.ts';
import { checkAbove, exposedWords, findExposed } from './exposed-place.ts';
import { holderOf } from './lock.ts';

export interface Home {
  readonly root: string;
  /** A folder of the home, created if it does not exist. */
  folder(name: Folder, below?: string): string;
  path(...parts: readonly string[]): string;
}

type Folder =
  | 'outbox'
  | 'inbox'
  | 'answers'
  | 'prompts'
  | 'requests'
  | 'threads'
  | 'files'
  | 'state'
  | 'status'
  | 'log'
  | 'ssh'
  | 'streams'
  | 'workspace';

export function homeRoot(env: ConfigEnvironment): string {
  return env.THREADMUX_HOME || join(env.HOME || '/', '.threadmux');
}

export function openHome(root: string): Home {
  checkAbove(root);
  privateFolder(root);
  return {
    root,
    folder(name, below) {
      const folder = privateFolder(join(root, name));
      return below === undefined ? folder : privateFolder(join(folder, below));
    },
    path: (...parts) => join(root, ...parts),
  };
}

/** A link, or a folder that someone else owns, could give our letters and answers to another user. */
function privateFolder(path: string): string {
  makeFolder(path);
  const stat = lstatSync(path);
  const uid = process.getuid?.() ?? stat.uid;
  if (!stat.isDirectory() || stat.uid !== uid)
    throw new ThreadmuxError('home_unsafe', `${path} is not a folder that you own`, {
      hint: 'Move it away, or set THREADMUX_HOME to a folder that you own.',
    });
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return path;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return; // to nowhere: privateFolder refuses it
    throw homeError(trueReason(path) ?? error, path);
  }
}

/** On a read-only disk, a recursive mkdir of Node.js fails with ENOENT instead of EROFS. */
function trueReason(path: string): unknown {
  try {
    mkdirSync(path, { mode: 0o700 });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path
      ? trueReason(dirname(path))
      : error;
  }
}

/** Explains why our home cannot be written. */
export function homeError(error: unknown, path: string): unknown {
  return fileError(error, `nothing can be written into ${path}`, 'set THREADMUX_HOME to a folder on another disk');
}

/** A start writes at most this much: with this much room it does not fail halfway. */
const ROOM_BYTES = 128 * 1024;

/** Throws if the disk is full or the home cannot be written. */
export function checkRoom(home: Home): void {
  const path = join(home.folder('state'), 'room');
  try {
    writeWhole(path, new Uint8Array(ROOM_BYTES));
    rmSync(path, { force: true });
  } catch (error) {
    throw homeError(error, home.root);
  }
}

// Inspects our home without changing it; `openHome` would create missing folders and fix permissions.

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
      /** Where other users could exchange it, and what helps. */
      readonly exposed: { readonly problem: string; readonly hint: string } | undefined;
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
  const exposed = findExposed(root);
  const beat = statSync(join(root, 'state', 'courier.pid'), { throwIfNoEntry: false });
  return {
    kind: 'home',
    root,
    mode: stat.mode & 0o777,
    isOwn,
    exposed: exposed && { problem: exposedWords(exposed, root), hint: exposed.hint },
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
