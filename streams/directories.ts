// Where terminals and headless agents may work: in the projects and roots of the configuration, and
// nowhere else. A directory is named as a person would say it, and resolved links and all.

import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';

export interface Directories {
  /** The names to choose from that fit what was begun. */
  names(begun: string): Promise<readonly string[]>;
  /** The directory's own path, every link resolved; rejects with a sentence. */
  resolve(name: string): Promise<string>;
  /** Rejects if a directory that was resolved once is not one any more: the configuration or a link has changed. */
  check(directory: string): Promise<void>;
  /** Whether a resolved directory is one of these paths, or below one. */
  isWithin(directory: string, paths: readonly string[]): Promise<boolean>;
}

export interface Open {
  readonly projects: readonly string[];
  readonly roots: readonly string[];
  /** What "~" stands for. */
  readonly homedir: string;
}

const MOST = 200;

export function openDirectories({ projects, roots, homedir }: Open): Directories {
  const absolute = (path: string) =>
    path.replace(/^~(?=\/|$)/, homedir).replace(/(?<=[^/])\/+$|(?<=^\/)\/+$/, '');
  const parents = [...new Set(roots.map(absolute))];
  const places = [...new Set([...projects.map(absolute), ...parents])];

  async function resolve(name: string): Promise<string> {
    if (places.length === 0) throw nothingOpen();
    const words = wordsOf(name);
    const [first = '', ...rest] = words;
    const ways = [
      ...places
        .filter((place) => basename(place) === first)
        .map((place) => ({ place, path: join(place, ...rest) })),
      ...parents.map((place) => ({ place, path: join(place, ...words) })),
    ];
    const found = new Set<string>();
    let left = false;
    for (const { place, path } of ways) {
      const real = await directoryAt(path);
      if (real === undefined) continue;
      if (isBelow(real, await directoryAt(place))) found.add(real);
      else left = true;
    }
    const [one, ...more] = found;
    if (one === undefined && left)
      throw refused(name, 'a link on the way leads out of the projects and roots');
    if (one === undefined)
      throw new ThreadmuxError('bad_usage', `there is no directory ${shown(name)}`, {
        hint: `Those to choose from: ${(await names('')).slice(0, 20).map(shown).join(', ') || 'none; is "roots" right?'}`,
      });
    if (more.length > 0)
      throw new ThreadmuxError('bad_usage', `${shown(name)} means several directories`, {
        hint: `Say it with its parent: ${[...found].map((path) => shown(path.split(sep).slice(-2).join('/'))).join(' or ')}`,
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
    return [...new Set(candidates)]
      .filter((name) => name.toLowerCase().includes(wanted))
      .slice(0, MOST);
  }

  async function isWithin(directory: string, paths: readonly string[]): Promise<boolean> {
    const real = await Promise.all(paths.map((path) => directoryAt(absolute(path))));
    return real.some((path) => isBelow(directory, path));
  }

  async function check(directory: string): Promise<void> {
    if ((await directoryAt(directory)) === directory && (await isWithin(directory, places))) return;
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

async function below(parents: readonly string[], before: string): Promise<readonly string[]> {
  const lists = await Promise.all(
    parents.map((parent) => readdir(parent, { withFileTypes: true }).catch(() => [])),
  );
  return lists
    .flat()
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => before + entry.name)
    .sort();
}

function nothingOpen(): ThreadmuxError {
  return new ThreadmuxError('bad_usage', 'no directory is open for terminals and headless agents', {
    hint: 'Name folders in `~/.threadmux/config.json` (mode 600), such as `{ "roots": ["~/code"] }`, and start threadmux again.',
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
