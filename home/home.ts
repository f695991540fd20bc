// ~/.threadmux: everything we keep on a machine, ours alone (0700). Nothing has a predictable
// name in a shared temp dir, ever.

import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';

export interface Home {
  readonly root: string;
  /** A folder of the home, made if it is not there. */
  folder(name: Folder, below?: string): string;
  path(...parts: readonly string[]): string;
}

export type Folder =
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

export function homeRoot(env: Env): string {
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

/** A folder somebody else owns, or a link, could hand our letters and answers to another user. */
function privateFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ThreadmuxError('home_unsafe', `making ${path}: ${(cause as Error).message}`, {
      cause,
      hint: 'Make room for it, or set THREADMUX_HOME to a folder that you own.',
    });
  }
  const stat = lstatSync(path);
  const uid = process.getuid?.() ?? stat.uid;
  if (!stat.isDirectory() || stat.uid !== uid)
    throw new ThreadmuxError('home_unsafe', `${path} is not a folder of your own`, {
      hint: 'Move it away, or set THREADMUX_HOME to a folder that you own.',
    });
  if ((stat.mode & 0o077) !== 0) chmodSync(path, 0o700);
  return path;
}
