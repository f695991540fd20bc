// Connections of another user's program at our port: those that it accepted while it had the port, and keeps after it has given the port back, and those
// that it begins from there. A browser uses them: their owner could pass everything on to us, also a sign-in, and would get the token. A socket that
// another user has bound but not connected yet is in no list; only a port that the system chooses now has none (SECURITY.md).

import { readFileSync } from 'node:fs';

/** Linux lists the connections of all users. Elsewhere none is known. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const LISTENS = '0A';

/** Whether a program of another user has a connection at this port, at any address of this machine. */
export function othersKeepConnections(port: number, user = process.getuid?.()): boolean {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return TABLES.flatMap(linesOf).some((line) => {
    const [, local = '', , state, , , , owner, , inode] = line.trim().split(/ +/);
    // Without an inode nobody has it yet: it is one that waits for us.
    return local.endsWith(end) && state !== LISTENS && inode !== '0' && Number(owner) !== user;
  });
}

function linesOf(table: string): readonly string[] {
  try {
    return readFileSync(table, 'latin1').split('\n').slice(1);
  } catch {
    return []; // another system, or no IPv6
  }
}
