// Reads a file that was checked by its path. A folder of that path may be exchanged for a link between the check and the
// opening: so it is read only if what was opened is still what the checked path leads to, without any link.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statfsSync,
} from 'node:fs';

/** `real` is a path without links, as `realpath` gave it; `room` is what is left for it. A sentence says why it was not read. */
export function readChecked(real: string, maxBytes: number, room: number): Buffer | string {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = tryTo(() => openSync(real, flags));
  if (fd === undefined) return 'it cannot be read';
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 'it is not a file';
    if (isOfKernel(fd)) return 'it belongs to the system';
    if (stat.nlink > 1) return 'it has another name elsewhere (a hard link)';
    if (stat.size > maxBytes) return `it is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
    if (stat.size > room) return 'too much for one message';
    if (!isAt(fd, stat, real)) return 'it was exchanged while it was read';
    return tryTo(() => contentOf(fd, Math.min(maxBytes, room))) ?? 'it cannot be read';
  } finally {
    closeSync(fd);
  }
}

/** The descriptor itself says where it leads, where the system can tell; elsewhere the path must lead to it before and after. */
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

/** Magic numbers of proc and sysfs: they can be mounted anywhere. */
const OF_KERNEL = [0x9fa0, 0x62656572];

function isOfKernel(fd: number): boolean {
  if (process.platform !== 'linux') return false;
  return OF_KERNEL.includes(tryTo(() => statfsSync(`/proc/self/fd/${fd}`).type) ?? 0);
}

/** A file that grows while it is read is cut where it ended when it was checked. */
function contentOf(fd: number, maxBytes: number): Buffer {
  const { size } = fstatSync(fd);
  const data = Buffer.alloc(Math.min(size, maxBytes));
  let length = 0;
  for (let read = -1; read !== 0 && length < data.length; length += read)
    read = readSync(fd, data, length, data.length - length, length);
  return data.subarray(0, length);
}

function tryTo<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // the sentence says it; the errno would not help
  }
}
