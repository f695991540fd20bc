// Reads files at paths that an agent or a program can choose. Opening a named pipe waits for a writer, and a device may never
// end: either could stop the whole process.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** How such a path is opened: also a named pipe opens at once, and can then be refused. */
export const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK;

/** At most this many bytes; undefined unless there is a readable regular file. */
export function readBeginning(path: string, mostBytes: number): string | undefined {
  try {
    const fd = openSync(path, AT_ONCE);
    try {
      if (!fstatSync(fd).isFile()) return undefined;
      const bytes = Buffer.alloc(mostBytes);
      return bytes.toString('utf8', 0, readSync(fd, bytes, 0, mostBytes, 0));
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined; // there is none
  }
}
