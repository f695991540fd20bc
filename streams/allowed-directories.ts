// Where terminals and headless agents may work: in the projects and roots of the configuration, and
// nowhere else. A directory is named as a person would say it, and resolved links and all.

import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';

export interface AllowedDirectories {
  /** The names to choose from that fit what was begun. */
  names(begun: string): Promise<readonly string[]>;
  /** The directory's own path, every link resolved; rejects with a sentence. */
  resolve(name: string): Promise<string>;
  /** Rejects if a directory that was resolved once is not one any more: the configuration or a link has changed. */
  check(directory: string): Promise<void>;
  /** Whether a resolved directory is one of these paths, or below one. */
  isWithin(directory: string, paths: readonly string[]): Promise<boolean>;
}

interface OpenDirectory {
  readonly projects: readonly string[];
  readonly roots: readonly string[];
  /** What "~" stands for; "~" itself if the disk knows. */
  readonly homedir: string;
  /** This machine's, unless it is another's. */
  readonly disk?: DirectoryDisk;
  /** Whether a directory may be named by its whole path; it must be inside all the same. */
  readonly wholePaths?: boolean;
  /** What stands before the names of another host's directories: `mini:`. */
  readonly prefix?: string;
  /** What to do when nothing is open. */
  readonly hint?: string;
}

export interface DirectoryDisk {
  /** The directories' own paths, every link resolved; undefined for what is no directory. */
  real(paths: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** The names of the directories in these, without hidden ones. */
  below(parents: readonly string[]): Promise<readonly string[]>;
}

const localDisk: DirectoryDisk = {
  real: (paths) => Promise.all(paths.map(directoryAt)),
  async below(parents) {
    const lists = await Promise.all(parents.map((parent) => readdir(parent, { withFileTypes: true }).catch(() => [])));
    return lists
      .flat()
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map((entry) => entry.name);
  },
};

const MOST = 200;
const LEADS_OUT = 'a link on the way leads out of the projects and roots';
const OUTSIDE = 'it is outside the projects and roots';
const LOCAL_HINT =
  'Name folders in `~/.threadmux/config.json` (mode 600), such as `{ "roots": ["~/code"] }`, and start threadmux again.';

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
    wordsOf(name.replace(/^[/~]+/, '')); // the same is refused
    return places.map((place) => ({ place, path: absolute(name) }));
  }

  async function resolve(name: string): Promise<string> {
    if (places.length === 0) throw nothingOpen(given.hint);
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
    if (one === undefined)
      throw new ThreadmuxError('bad_usage', `there is no directory ${said(name)}`, {
        hint: `Those to choose from: ${(await names('')).slice(0, 20).map(said).join(', ') || 'none; is "roots" right?'}`,
      });
    if (more.length > 0)
      throw new ThreadmuxError('bad_usage', `${said(name)} means several directories`, {
        hint: `Say it with its parent: ${[...found].map((path) => said(path.split(sep).slice(-2).join('/'))).join(' or ')}`,
      });
    return one;
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
    const real = await disk.real(paths.map(absolute));
    return real.some((path) => isBelow(directory, path));
  }

  async function check(directory: string): Promise<void> {
    const [real] = await disk.real([directory]);
    if (real === directory && (await isWithin(directory, places))) return;
    throw refused(directory, 'it is not in the projects and roots any more');
  }

  return { names, resolve, check, isWithin };
}

/** The part of a name between slashes; whatever would climb or start elsewhere is refused. */
function wordsOf(name: string): readonly string[] {
  if (name.trim() === '')
    throw new ThreadmuxError('bad_usage', 'a directory is missing', {
      hint: 'Example: `!terminal shop npm test`',
    });
  if (/^[/~]/.test(name)) throw refused(name, 'it is an absolute path');
  if (/\p{Cc}/u.test(name)) throw refused(name, 'it holds control characters');
  const words = name.split('/').filter((word) => word !== '' && word !== '.');
  if (words.includes('..')) throw refused(name, 'it climbs out with ".."');
  if (words.length === 0) throw refused(name, 'it names nothing');
  return words;
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

function nothingOpen(hint = LOCAL_HINT): ThreadmuxError {
  return new ThreadmuxError('bad_usage', 'no directory is open for terminals and headless agents', {
    hint,
  });
}

function refused(name: string, why: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', `${shown(name)} is not a directory to work in: ${why}`, {
    hint: 'Name one of the projects, or a folder below one of the roots of the configuration.',
  });
}

function shown(name: string): string {
  return `\`${name
    .replaceAll('`', "'")
    .replace(/[\p{Cc}\p{Cf}]/gu, '�')
    .slice(0, 100)}\``;
}
