// `[ATTACH: path]` in a reply uploads that file, if it is inside the session's project or our files folder. The text of a reply
// is not trusted: links are resolved first, and a refused file is named with the reason.

import { realpathSync } from 'node:fs';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { FileUpload } from '../discord/rest.ts';
import { readChecked } from '../home/checked-file.ts';

export interface OutgoingFiles {
  /** The reply without its attachment lines. */
  readonly text: string;
  readonly files: readonly FileUpload[];
  /** One text per file that was not attached, with the reason. */
  readonly refused: readonly string[];
}

export interface AttachRules {
  /** Folders that files may come from. */
  readonly roots: readonly string[];
  /** Our home: only files in its `files/` are ever sent. */
  readonly home: string;
  readonly cwd: string;
  readonly homeDir: string;
  readonly maxFiles?: number;
  readonly maxBytes?: number;
  readonly maxTotalBytes?: number;
}

const MARK = '[ATTACH:';
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;

export function takeOutgoingFiles(text: string, rules: AttachRules): OutgoingFiles {
  const { kept, paths, tooMany } = attachMarkersIn(text);
  const files: FileUpload[] = [];
  const refused: string[] = [];
  let room = rules.maxTotalBytes ?? 24 * 2 ** 20;
  for (const path of paths) {
    const taken = files.length >= (rules.maxFiles ?? 10) ? TOO_MANY : take(path, rules, room);
    if (typeof taken === 'string') refused.push(`${untrustedCode(path)}: ${taken}`);
    else {
      room -= taken.data.length;
      files.push(taken);
    }
  }
  return { text: kept, files, refused: [...refused, ...tooMany] };
}

export const TOO_MANY = 'more files than one message can hold';
/** Each costs time, on another host a round trip. */
const MAX_ASKED = 20;

export interface AttachMarkers {
  /** The text without the marks. */
  readonly kept: string;
  /** Each once, and not more than may be looked at. */
  readonly paths: readonly string[];
  /** A sentence about the others. */
  readonly tooMany: readonly string[];
}

/** A mark inside a code block is not an attachment. */
export function attachMarkersIn(text: string): AttachMarkers {
  const paths = new Set<string>();
  let fence: string | undefined;
  const kept = text.split('\n').filter((line) => {
    const mark = line.match(FENCE)?.[1];
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined;
    const path = fence === undefined ? markedPath(line) : undefined;
    if (path !== undefined) paths.add(path);
    return path === undefined;
  });
  const more = paths.size - MAX_ASKED;
  return {
    kept: kept.join('\n'),
    paths: [...paths].slice(0, MAX_ASKED),
    tooMany: more > 0 ? [`${more} more: ${TOO_MANY}`] : [],
  };
}

function markedPath(line: string): string | undefined {
  const mark = line.trim();
  if (!mark.startsWith(MARK) || !mark.endsWith(']')) return undefined;
  return mark.slice(MARK.length, -1).trim() || undefined;
}

function take(path: string, rules: AttachRules, room: number) {
  if (path.includes('\0')) return 'not a path';
  const absolute = resolve(rules.cwd, path.replace(/^~(?=\/)/, rules.homeDir));
  const real = tryTo(() => realpathSync(absolute));
  if (real === undefined) return 'there is no such file';
  const why = whyNot(real, rules);
  if (why !== undefined) return why;
  const read = readChecked(real, rules.maxBytes ?? 10 * 2 ** 20, room);
  return typeof read === 'string' ? read : { name: basename(real), data: read };
}

/** With "/" as the project these would be inside it, and they expose secrets of processes. */
const OF_THE_SYSTEM = ['/proc', '/sys', '/dev'];

function whyNot(real: string, rules: AttachRules): string | undefined {
  const places = (folders: readonly string[]) => folders.flatMap((one) => tryTo(() => realpathSync(one)) ?? []);
  if (places(OF_THE_SYSTEM).some((one) => isInside(real, one))) return 'it belongs to the system';
  const [home] = places([rules.home]);
  const isOurs = home !== undefined && isInside(real, home);
  if (isOurs && !places([filesFolder(rules.home)]).some((one) => isInside(real, one))) return 'it belongs to threadmux';
  const root = places(rules.roots).find((one) => isInside(real, one));
  if (root === undefined) return 'it is outside the project';
  const isHidden = relative(root, real)
    .split(sep)
    .some((part) => part.startsWith('.'));
  return isHidden ? 'hidden files are not sent' : undefined;
}

function isInside(path: string, root: string): boolean {
  const below = relative(root, path);
  return below !== '' && !isAbsolute(below) && below.split(sep)[0] !== '..';
}

function tryTo<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined; // the caller gives the reason; the errno would not help
  }
}

/** Files in this folder may always be sent. */
function filesFolder(homeRoot: string): string {
  return join(homeRoot, 'files');
}
