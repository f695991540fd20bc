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
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileError, ThreadmuxError } from '../core/errors.ts';

export interface UserFile {
  readonly path: string;
  /** Where it really is, with all links resolved; undefined if it does not exist, or is on another host. */
  readonly target?: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
}

/** No real settings file is larger. */
const LARGEST_BYTES = 4 * 2 ** 20;

export function readUserFile(path: string): UserFile {
  try {
    for (const one of [dirname(path), path])
      if (isForeignLink(lstatSync(one, { throwIfNoEntry: false }), process.getuid?.()))
        throw refused(`${one} is a link of another user`);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { path, text: undefined };
    if (!existsSync(path)) throw refused(`${path} is a link to a file that does not exist`);
    const target = realpathSync(path);
    return { path, target, text: decodeUserFile(path, contentOf(path, target)) };
  } catch (error) {
    throw fileError(error, `reading ${path}`);
  }
}

/** In a folder that others can write, a link of theirs could lead to a secret of ours, or to another file that we would change. */
export function isForeignLink(stat: Stats | undefined, own: number | undefined): boolean {
  return stat?.isSymbolicLink() === true && own !== undefined && stat.uid !== own && stat.uid !== 0;
}

/** Somebody could exchange the file or its folder meanwhile: only what is at the target itself is read. */
function contentOf(path: string, target: string): Buffer {
  const fd = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw refused(`${path} is not a file`);
    if (stat.size > LARGEST_BYTES) throw refused(`${path} is too large to be edited`);
    checkPlace(path, fd, target);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Linux tells the path of a file descriptor; elsewhere nothing more can be checked. */
function checkPlace(path: string, fd: number, real: string): void {
  if (process.platform === 'linux' && readlinkSync(`/proc/self/fd/${fd}`) !== real) throw changed(path);
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
    const target = file.target ?? join(realpathSync(dirname(path)), basename(path));
    inFolder(path, dirname(target), (folder) => {
      const temp = join(folder, `.${randomBytes(9).toString('base64url')}.tmp`);
      try {
        const there = join(folder, basename(target));
        const like = lstatSync(there, { throwIfNoEntry: false });
        if (like === undefined ? file.target !== undefined : !like.isFile() || file.target === undefined)
          throw changed(path);
        writeLike(temp, text, like);
        checkUnchanged(file);
        renameSync(temp, there);
      } catch (error) {
        rmSync(temp, { force: true });
        throw error;
      }
    });
    return made;
  } catch (error) {
    throw fileError(error, `writing ${path}`);
  }
}

/** With a path of the folder that stays the same folder, also if somebody exchanges it for a link. */
function inFolder(path: string, folder: string, act: (folder: string) => void): void {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    checkPlace(path, fd, folder);
    act(process.platform === 'linux' ? `/proc/self/fd/${fd}` : folder);
  } finally {
    closeSync(fd);
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
function checkUnchanged({ path, text, target }: UserFile): void {
  const now = readUserFile(path);
  if (now.text !== text || now.target !== target) throw changed(path);
}

function changed(path: string): ThreadmuxError {
  return new ThreadmuxError('busy', `${path} was changed by another program at the same time`, {
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
