// Finds where on the way to our home another user could put another one in its place, while a hook or tmux uses it by its name.

import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';

interface Exposed {
  /** A folder above the home, or a link on the way to it. */
  readonly at: string;
  readonly hint: string;
}

const PLACE = 'THREADMUX_HOME to a folder in a place where only you can write.';
export const ELSEWHERE = `Set ${PLACE}`;
/** The limit of the Linux kernel. */
const MOST_LINKS = 40;

/** Every folder that the path goes through is looked at, also those that its links lead to. */
export function findExposed(root: string): Exposed | undefined {
  const trusted = trustedOwners(process.getuid?.(), uidMap());
  const rest = dirname(resolve(root)).split(sep);
  let at: string = sep;
  let links = 0;
  for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
    const path = part === '..' ? dirname(at) : join(at, part);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return undefined; // the rest does not exist yet
    if (!trusted.includes(found.uid)) return { at: path, hint: ELSEWHERE };
    if (!found.isSymbolicLink()) {
      const open = found.mode & STICKY ? 0 : found.mode & OTHERS_WRITE;
      const who = (open & 0o020 ? 'g' : '') + (open & 0o002 ? 'o' : '');
      if (open !== 0) return { at: path, hint: `Run \`chmod ${who}-w ${path}\`, or set ${PLACE}` };
      at = path;
      continue;
    }
    if (++links > MOST_LINKS) return undefined; // it cannot be opened
    const target = readlinkSync(path);
    if (target.startsWith(sep)) at = sep;
    rest.unshift(...target.split(sep));
  }
  return undefined;
}

/** Others may create files there, but not exchange those of their owners. */
const STICKY = 0o1000;
/** Of the group and of all. Linux shows here also what an access control list allows. */
export const OTHERS_WRITE = 0o022;

export function checkAbove(root: string): void {
  const found = findExposed(root);
  if (found === undefined) return;
  throw new ThreadmuxError('home_unsafe', exposedWords(found, root), { hint: found.hint });
}

export function exposedWords({ at }: Exposed, root: string): string {
  return `other users can change ${at}, which contains ${root}`;
}

/** Owns what is outside of a user namespace, such as the system in some containers. */
const NOBODY = 65_534;

/** `map` is the content of /proc/self/uid_map, which exists on Linux only. */
export function trustedOwners(own: number | undefined, map: string | undefined): readonly (number | undefined)[] {
  const isNamespace = map !== undefined && map.trim().replace(/\s+/g, ' ') !== '0 0 4294967295';
  return [0, own, ...(isNamespace ? [NOBODY] : [])];
}

function uidMap(): string | undefined {
  try {
    return process.platform === 'linux' ? readFileSync('/proc/self/uid_map', 'utf8') : undefined;
  } catch {
    return undefined; // no /proc
  }
}
