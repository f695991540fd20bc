// Our home, ~/.threadmux: all files that we keep on a machine, readable only by the user (0700). We never use a predictable
// name in a shared temporary directory.

import { chmodSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ConfigEnvironment } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { fileError } from '../core/file-errors.ts';
import { writeWhole } from './whole-file.ts';

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
