// Edits a file of the user: replaced atomically, with its mode and owner, at the target of its link. A file that we could not
// restore exactly is refused.

import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileError, ThreadmuxError } from '../core/errors.ts';

export interface UserFile {
  readonly path: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
}

export function readUserFile(path: string): UserFile {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { path, text: undefined };
    if (!existsSync(path)) throw refused(`${path} is a link to a file that does not exist`);
    if (!statSync(path).isFile()) throw refused(`${path} is not a file`);
    return { path, text: decodeUserFile(path, readFileSync(path)) };
  } catch (error) {
    throw fileError(error, `reading ${path}`);
  }
}

/** Called for all files before the first change, so that an install is done completely or not at all. */
export function checkWritable({ path, text }: UserFile): void {
  try {
    const target = text === undefined ? path : realpathSync(path);
    if (text !== undefined && (statSync(target).mode & 0o200) === 0)
      throw refused(`${path} is read-only`, 'Make it writable, then run this again.');
    let folder = dirname(target);
    while (!existsSync(folder)) folder = dirname(folder);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw fileError(error, `changing ${path}`);
  }
}

/** Returns the topmost folder that was created for it. */
export function writeUserFile(file: UserFile, text: string): string | undefined {
  const { path } = file;
  try {
    const made = file.text === undefined ? mkdirSync(dirname(path), { recursive: true, mode: 0o700 }) : undefined;
    const target = file.text === undefined ? path : realpathSync(path);
    const temp = join(dirname(target), `.${randomBytes(9).toString('base64url')}.tmp`);
    try {
      writeLike(temp, text, statSync(target, { throwIfNoEntry: false }));
      checkUnchanged(file);
      renameSync(temp, target);
    } catch (error) {
      rmSync(temp, { force: true });
      throw error;
    }
    return made;
  } catch (error) {
    throw fileError(error, `writing ${path}`);
  }
}

/** Removes a file that we created, and the folders that we created for it if they are empty. */
export function removeUserFile(file: UserFile, madeFolder: string | undefined): void {
  try {
    checkUnchanged(file);
    rmSync(file.path, { force: true });
  } catch (error) {
    throw fileError(error, `removing ${file.path}`);
  }
  if (madeFolder === undefined) return;
  for (let folder = dirname(file.path); folder.startsWith(madeFolder); folder = dirname(folder))
    if (!removeIfEmpty(folder)) return;
}

export function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false; // not empty
  }
}

function writeLike(temp: string, text: string, like: { mode: number; uid: number; gid: number } | undefined): void {
  const fd = openSync(temp, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    if (like !== undefined) {
      const uid = process.getuid?.() ?? like.uid;
      if (uid !== like.uid || process.getgid?.() !== like.gid) chown(fd, like);
      fchmodSync(fd, like.mode & 0o7777);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function chown(fd: number, { uid, gid }: { uid: number; gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // Only root may change the owner. The current user may write the file, so it stays usable.
  }
}

/** Checked right before the rename: Claude Code and editors write these files too. */
function checkUnchanged({ path, text }: UserFile): void {
  if (readUserFile(path).text === text) return;
  throw new ThreadmuxError('busy', `${path} was changed by another program at the same time`, {
    hint: 'Run this again.',
  });
}

/** Invalid UTF-8 would not be restored exactly, so it is refused. The byte order mark is kept as a character. */
export function decodeUserFile(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(`${path} is not UTF-8 text`);
  }
}

function refused(message: string, hint = 'Correct this, then run the command again.') {
  return new ThreadmuxError('home_unsafe', message, { hint });
}
