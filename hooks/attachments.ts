// `[ATTACH: path]` in a reply uploads that file, if it is inside the session's project or our files
// folder. The text of a reply is not trusted: links are resolved first, and the rest is refused by name.

import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { code } from '../core/outside-words.ts';
import type { Upload } from '../discord/rest.ts';

export interface Attached {
  /** The reply without the lines that were acted on. */
  readonly text: string;
  readonly files: readonly Upload[];
  /** One sentence for each file that was not taken. */
  readonly refused: readonly string[];
}

export interface AttachRules {
  /** Folders that files may come from. */
  readonly roots: readonly string[];
  readonly cwd: string;
  readonly homeDir: string;
  readonly maxFiles?: number;
  readonly maxBytes?: number;
  readonly maxTotalBytes?: number;
}

const MARK = /^\s*\[ATTACH:\s*(.+?)\s*\]\s*$/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

export function takeAttachments(text: string, rules: AttachRules): Attached {
  const { kept, paths } = marksOf(text);
  const files: Upload[] = [];
  const refused: string[] = [];
  let total = 0;
  for (const path of paths) {
    const taken =
      files.length >= (rules.maxFiles ?? 10)
        ? 'more files than one message can hold'
        : take(path, rules);
    if (typeof taken === 'string') refused.push(`${code(path)}: ${taken}`);
    else if (total + taken.data.length > (rules.maxTotalBytes ?? 24 * 2 ** 20))
      refused.push(`${code(path)}: too much for one message`);
    else {
      total += taken.data.length;
      files.push(taken);
    }
  }
  return { text: kept, files, refused };
}

/** Inside a code block it is text about attachments, not an attachment. */
function marksOf(text: string): { kept: string; paths: readonly string[] } {
  const paths: string[] = [];
  let fence: string | undefined;
  const kept = text.split('\n').filter((line) => {
    const mark = line.match(FENCE)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    const path = fence === undefined ? line.match(MARK)?.[1] : undefined;
    if (path !== undefined) paths.push(path);
    return path === undefined;
  });
  return { kept: kept.join('\n'), paths };
}

function take(path: string, rules: AttachRules): { name: string; data: Uint8Array } | string {
  if (path.includes('\0')) return 'not a path';
  const absolute = resolve(rules.cwd, path.replace(/^~(?=\/)/, rules.homeDir));
  const real = tryTo(() => realpathSync(absolute));
  if (real === undefined) return 'there is no such file';
  const root = rules.roots
    .flatMap((one) => tryTo(() => realpathSync(one)) ?? [])
    .find((one) => isInside(real, one));
  if (root === undefined) return 'it is outside the project';
  if (
    relative(root, real)
      .split(sep)
      .some((part) => part.startsWith('.'))
  )
    return 'hidden files are not sent';
  return read(real, rules.maxBytes ?? 10 * 2 ** 20);
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && !isAbsolute(way) && way.split(sep)[0] !== '..';
}

/** What was checked is what is read: one descriptor, no links, no pipes, nobody else's file. */
function read(path: string, maxBytes: number): { name: string; data: Uint8Array } | string {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = tryTo(() => openSync(path, flags));
  if (fd === undefined) return 'it cannot be read';
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 'it is not a file';
    if (stat.nlink > 1) return 'it has another name elsewhere (a hard link)';
    if (stat.size > maxBytes) return `it is larger than ${Math.floor(maxBytes / 2 ** 20)} MiB`;
    return { name: basename(path), data: readFileSync(fd) };
  } finally {
    closeSync(fd);
  }
}

function tryTo<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // the sentence says it; the errno would not help
  }
}

/** Where files meant for people may always be put. */
export function filesFolder(homeRoot: string): string {
  return join(homeRoot, 'files');
}
