// A file that belongs to the user and that we edit: read strictly, replaced whole, with its mode and owner,
// where its link leads. What we cannot give back unharmed we refuse, with a sentence.

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
import { ThreadmuxError } from '../core/errors.ts';
import { fileError } from '../core/file-errors.ts';

export interface UserFile {
  readonly path: string;
  /** Undefined if there is none. */
  readonly text: string | undefined;
}

export function readUserFile(path: string): UserFile {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { path, text: undefined };
    if (!existsSync(path)) throw refused(`${path} is a link to a file that is not there`);
    if (!statSync(path).isFile()) throw refused(`${path} is not a file`);
    return { path, text: decodeUserFile(path, readFileSync(path)) };
  } catch (error) {
    throw fileError(error, `reading ${path}`);
  }
}

/** Said before anything is changed, so that an install is done whole or not at all. */
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

/** Gives the topmost folder that had to be made for it. */
export function writeUserFile(file: UserFile, text: string): string | undefined {
  const { path } = file;
  try {
    const made =
      file.text === undefined
        ? mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        : undefined;
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

/** Takes away a file that we made, and the folders that we made for it if nobody else has used them. */
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
    return false; // somebody uses it
  }
}

function writeLike(
  temp: string,
  text: string,
  like: { mode: number; uid: number; gid: number } | undefined,
): void {
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
    // Not ours to give away: the file is at least written by one who may.
  }
}

/** The last look before the rename: Claude Code and editors write these files too. */
function checkUnchanged({ path, text }: UserFile): void {
  if (readUserFile(path).text === text) return;
  throw new ThreadmuxError('busy', `${path} was changed by another program at the same moment`, {
    hint: 'Run this again.',
  });
}

/** Bytes that are not UTF-8 would come back as others. The byte order mark is kept as a character. */
export function decodeUserFile(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(`${path} is not UTF-8 text`);
  }
}

function refused(message: string, hint = 'Correct that first, then run this again.') {
  return new ThreadmuxError('home_unsafe', message, { hint });
}
