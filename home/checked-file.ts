// Reads files at paths that an agent or a program can choose. Opening a named pipe waits for a writer, and a device may never
// end: either could stop the whole process. A link could lead to a file of ours that nobody may read.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statfsSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { isForeignLink } from './user-owned-file.ts';

/** How such a path is opened: also a named pipe opens at once, and can then be refused. */
export const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** At most this many bytes; undefined unless there is a readable regular file. */
export function readBeginning(path: string, mostBytes: number): string | undefined {
  return tryTo(() => {
    const fd = openSync(path, AT_ONCE);
    try {
      if (!fstatSync(fd).isFile()) return undefined;
      const bytes = Buffer.alloc(mostBytes);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, mostBytes, 0));
    } finally {
      closeSync(fd);
    }
  });
}

/** The limit of the Linux kernel. */
const MOST_LINKS = 40;

/**
 * Resolves the links of a path like `realpath`, but follows no link of another user: who can write the folder above a project
 * could replace the project by a link to any folder. Undefined if there is no such path, or such a link is part of it.
 */
export function resolveOwnPath(path: string): string | undefined {
  const rest = resolve(path).split(sep);
  let at: string = sep;
  let links = 0;
  try {
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      const next = part === '..' ? dirname(at) : join(at, part);
      const stat = lstatSync(next);
      if (!stat.isSymbolicLink()) {
        at = next;
        continue;
      }
      const target = readlinkSync(next);
      // The link that was read must be the one whose owner is checked.
      const isSame = lstatSync(next).ino === stat.ino;
      if (isForeignLink(stat, process.getuid?.()) || !isSame || ++links > MOST_LINKS) return undefined;
      if (target.startsWith(sep)) at = sep;
      rest.unshift(...target.split(sep));
    }
    return at;
  } catch {
    return undefined; // it does not exist
  }
}

/**
 * A folder of a checked path could be replaced by a link between the check and the opening, so the file is read only if the opened file is
 * still the one at that path, without any link. `real` is that path, as returned by `realpath`; `room` is what is left for it. Returns the
 * reason as a text if the file is not read.
 */
export function readChecked(real: string, maxBytes: number, room: number): Buffer | string {
  const fd = tryTo(() => openSync(real, AT_ONCE | constants.O_NOFOLLOW));
  if (fd === undefined) return 'it cannot be read';
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 'it is not a file';
    if (isOfKernel(fd)) return 'it belongs to the system';
    if (stat.nlink > 1) return 'it has a second name (a hard link)';
    if (stat.size > maxBytes) return `it is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
    if (stat.size > room) return 'too much for one message';
    if (tryTo(() => waitForRenames(dirname(real))) === undefined) return 'its folder cannot be read';
    if (!isAt(fd, stat, real)) return 'it was replaced while it was read';
    return tryTo(() => contentOf(fd, Math.min(maxBytes, room))) ?? 'it cannot be read';
  } finally {
    closeSync(fd);
  }
}

/**
 * While a name is replaced or removed, the file is already counted without it, and the name still leads to the file. A hard
 * link would look like the only name. Reading the folder waits until that is over.
 */
function waitForRenames(folder: string): 'over' {
  const listed = opendirSync(folder);
  try {
    listed.readSync();
    return 'over';
  } finally {
    listed.closeSync();
  }
}

/** Linux tells the path of a file descriptor. Elsewhere the path must lead to the same file before and after it is resolved. */
function isAt(fd: number, opened: Stats, real: string): boolean {
  const leadsTo = tryTo(() => readlinkSync(`/proc/self/fd/${fd}`));
  if (leadsTo !== undefined) return leadsTo === real;
  const same = () => {
    const now = tryTo(() => lstatSync(real));
    // Its names are counted again: a hard link that was taken away and put back would be unseen before.
    return now?.dev === opened.dev && now.ino === opened.ino && now.nlink === 1;
  };
  return same() && tryTo(() => realpathSync(real)) === real && same();
}

/** The file system types of proc and sysfs, which can be mounted anywhere. */
const OF_KERNEL = [0x9fa0, 0x62656572];

function isOfKernel(fd: number): boolean {
  if (process.platform !== 'linux') return false;
  return OF_KERNEL.includes(tryTo(() => statfsSync(`/proc/self/fd/${fd}`).type) ?? 0);
}

/** A file that grows meanwhile is read only up to the size that was checked. */
function contentOf(fd: number, maxBytes: number): Buffer {
  const { size } = fstatSync(fd);
  const data = Buffer.alloc(Math.min(size, maxBytes));
  let length = 0;
  for (let read = -1; read !== 0 && length < data.length; length += read)
    read = readSync(fd, data, length, data.length - length, length);
  return data.subarray(0, length);
}

/** Undefined if it fails. */
export function tryTo<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // the caller gives the reason; the errno would not help
  }
}
