// Where terminals and headless agents may work: only in the projects and roots of the configuration. A name is resolved with
// all its links before it is checked.

import { opendir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';

export interface AllowedDirectories {
  /** The names that match what the user has typed so far. */
  names(begun: string): Promise<readonly string[]>;
  /** The path with every link resolved. Rejects with a sentence for the user. */
  resolve(name: string): Promise<string>;
  /** Rejects if a directory that was resolved earlier is no longer allowed: the configuration or a link may have changed. */
  check(directory: string): Promise<void>;
  /** Whether a directory, with all its links resolved, is one of these paths or below one of them. */
  isWithin(directory: string, paths: readonly string[]): Promise<boolean>;
}

interface OpenDirectory {
  readonly projects: readonly string[];
  readonly roots: readonly string[];
  /** What "~" means; "~" itself if the disk expands it. */
  readonly homedir: string;
  /** Default: the disk of this machine. */
  readonly disk?: DirectoryDisk;
  /** Whether an absolute path is accepted as a name. It must still be inside. */
  readonly wholePaths?: boolean;
  /** Put before the names of directories on another host: `mini:`. */
  readonly prefix?: string;
  /** The hint when no directory is allowed. */
  readonly hint?: string;
}

export interface DirectoryDisk {
  /** The paths with every link resolved; undefined for what is not a directory. */
  real(paths: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** The names of the directories in these folders, without hidden ones. */
  below(parents: readonly string[]): Promise<readonly string[]>;
}

const localDisk: DirectoryDisk = {
  real: (paths) => Promise.all(paths.map(directoryAt)),
  below: async (parents) => (await Promise.all(parents.map((parent) => directoriesIn(parent)))).flat(),
};

const MOST = 200;
const LEADS_OUT = 'a link in its path leads out of the projects and roots';
const OUTSIDE = 'it is outside the projects and roots';
const LOCAL_HINT =
  'Name folders in `~/.threadmux/config.json` (mode 600), such as `{ "roots": ["~/code"] }`, and restart threadmux.';

export function openAllowedDirectories(given: OpenDirectory): AllowedDirectories {
  const { projects, roots, homedir, disk = localDisk, prefix = '' } = given;
  const said = (name: string) => shown(`${prefix}${name}`);
  const absolute = (path: string) => path.replace(/^~(?=\/|$)/, homedir).replace(/(?<=[^/])\/+$|(?<=^\/)\/+$/, '');
  const parents = [...new Set(roots.map(absolute))];
  const places = [...new Set([...projects.map(absolute), ...parents])];

  const waysTo = ([first = '', ...rest]: readonly string[]) => [
    ...places.filter((place) => basename(place) === first).map((place) => ({ place, path: join(place, ...rest) })),
    ...parents.map((place) => ({ place, path: join(place, first, ...rest) })),
  ];

  function wholePath(name: string) {
    wordsOf(name.replace(/^[/~]+/, '')); // throws for the same mistakes
    return places.map((place) => ({ place, path: absolute(name) }));
  }

  async function resolve(name: string): Promise<string> {
    if (places.length === 0)
      throw usage('no directory is allowed for terminals and headless agents', given.hint ?? LOCAL_HINT);
    const ways = given.wholePaths && /^[/~]/.test(name) ? wholePath(name) : waysTo(wordsOf(name));
    const all = await disk.real(ways.flatMap(({ place, path }) => [path, place]));
    const found = new Set<string>();
    let left = false;
    for (const index of ways.keys()) {
      const real = all[2 * index];
      if (real === undefined) continue;
      if (isBelow(real, all[2 * index + 1])) found.add(real);
      else left = true;
    }
    const [one, ...more] = found;
    if (one === undefined && left) throw refused(prefix + name, /^[/~]/.test(name) ? OUTSIDE : LEADS_OUT);
    if (one === undefined) {
      const choices = (await names('')).slice(0, 20).map(said).join(', ');
      throw usage(`there is no directory ${said(name)}`, `Choose from: ${choices || 'none; is "roots" right?'}`);
    }
    if (more.length === 0) return one;
    const longer = [...found].map((path) => said(path.split(sep).slice(-2).join('/')));
    throw usage(`${said(name)} means several directories`, `Name it with its parent: ${longer.join(' or ')}`);
  }

  async function names(begun: string): Promise<readonly string[]> {
    const wanted = begun.toLowerCase();
    const deep = begun.includes('/') ? begun.slice(0, begun.lastIndexOf('/')) : undefined;
    const candidates =
      deep === undefined
        ? [...places.map((place) => basename(place)), ...(await below(parents, ''))]
        : await resolve(deep).then(
            (directory) => below([directory], `${deep}/`),
            () => [],
          );
    return [...new Set(candidates)].filter((name) => name.toLowerCase().includes(wanted)).slice(0, MOST);
  }

  async function below(folders: readonly string[], before: string): Promise<readonly string[]> {
    return (await disk.below(folders)).map((name) => before + name).sort();
  }

  async function isWithin(directory: string, paths: readonly string[]): Promise<boolean> {
    const [real, ...allowed] = await disk.real([directory, ...paths].map(absolute));
    return real !== undefined && allowed.some((path) => isBelow(real, path));
  }

  async function check(directory: string): Promise<void> {
    const [real] = await disk.real([directory]);
    if (real === directory && (await isWithin(directory, places))) return;
    throw refused(directory, 'it is no longer in the projects and roots');
  }

  return { names, resolve, check, isWithin };
}

/** The parts of a name between slashes. A name that leads upwards or starts elsewhere is refused. */
function wordsOf(name: string): readonly string[] {
  if (name.trim() === '') throw usage('a directory is missing', 'Example: `!terminal shop npm test`');
  if (/^[/~]/.test(name)) throw refused(name, 'it is an absolute path');
  if (/\p{Cc}/u.test(name)) throw refused(name, 'it contains control characters');
  const words = name.split('/').filter((word) => word !== '' && word !== '.');
  if (words.includes('..')) throw refused(name, 'it contains ".."');
  if (words.length === 0) throw refused(name, 'it names nothing');
  return words;
}

/** A folder may have millions of entries: only so many are looked at. */
const MOST_ENTRIES = 20_000;

/** The names, without hidden ones; empty if the folder cannot be read. */
export async function directoriesIn(folder: string, mostEntries = MOST_ENTRIES): Promise<readonly string[]> {
  const names: string[] = [];
  let entries = 0;
  try {
    for await (const entry of await opendir(folder, { bufferSize: 1_000 })) {
      if (++entries > mostEntries) break;
      if (entry.isDirectory() && !entry.name.startsWith('.')) names.push(entry.name);
    }
  } catch {
    // It does not exist, or may not be read.
  }
  return names;
}

async function directoryAt(path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

function isBelow(path: string, parent: string | undefined): boolean {
  if (parent === undefined) return false;
  return path === parent || path.startsWith(parent.endsWith(sep) ? parent : parent + sep);
}

function refused(name: string, why: string): ThreadmuxError {
  const hint = 'Name one of the projects, or a folder below one of the roots of the configuration.';
  return usage(`${shown(name)} is not a directory to work in: ${why}`, hint);
}

function usage(message: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', message, { hint });
}

function shown(name: string): string {
  const plain = name.replaceAll('`', "'").replace(/[\p{Cc}\p{Cf}]/gu, '�');
  return `\`${plain.slice(0, 100)}\``;
}
