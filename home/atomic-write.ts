// Writes files atomically (temporary file, then rename): a reader never sees a partial file.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type * as z from 'zod';
import { errnoOf, errnoWords, isDiskFull, ThreadmuxError } from '../core/errors.ts';
import { parsedJson } from '../core/json.ts';
import { AT_ONCE } from './checked-file.ts';

export function writeWhole(path: string, data: string | Uint8Array, mode = 0o600): void {
  const temp = join(dirname(path), `.${randomBytes(9).toString('base64url')}.tmp`);
  try {
    writeSynced(temp, typeof data === 'string' ? Buffer.from(data) : data, mode);
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw Object.assign(error as Error, { path }); // users know this path, not the temporary one
  }
}

function writeSynced(path: string, bytes: Uint8Array, mode: number): void {
  const fd = openSync(path, 'wx', mode);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function writeJson(path: string, value: unknown): void {
  writeWhole(path, `${JSON.stringify(value)}\n`);
}

/** Undefined if the file does not exist or its content does not match the schema. */
export function readJson<T extends z.ZodType>(path: string, schema: T): z.output<T> | undefined {
  const value = parsedJson(readText(path) ?? ''); // not JSON: treated like a missing file
  return value === undefined ? undefined : schema.safeParse(value).data;
}

/** Undefined if the file does not exist. A named pipe or a device, which might never end, is an error. */
export function readText(path: string): string | undefined {
  try {
    const fd = openSync(path, AT_ONCE);
    try {
      if (!fstatSync(fd).isFile()) {
        const hint = 'Move it away, then run this again.';
        throw new ThreadmuxError('home_unsafe', `${path} is not a file`, { hint });
      }
      return readFileSync(fd, 'utf8');
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

// Writes state that is also in memory. If a write fails (a full disk), the caller continues and the newest value is written
// later: no reply or message waits for the disk.

const RETRY_MS = 2_000;
/** Pending writes by path: a value to write, or 'gone' to remove the file. */
const due = new Map<string, { readonly value: unknown } | 'gone'>();
const retry: { timer: NodeJS.Timeout | undefined } = { timer: undefined };

export function writeBestEffort(path: string, value: unknown): void {
  set(path, { value });
}

/** Removes the file, now or as soon as possible. */
export function removeBestEffort(path: string): void {
  set(path, 'gone');
}

/** Drops a pending write: the file was written elsewhere, and an older value must not replace it. */
export function cancelPendingWrite(path: string): void {
  due.delete(path);
  reportWriteWorked(path);
}

/** Tries all pending writes again; also called before a process exits. */
export function retryPendingWrites(): void {
  clearTimeout(retry.timer);
  for (const [path, to] of [...due]) writeDue(path, to);
  retry.timer = due.size > 0 ? setTimeout(retryPendingWrites, RETRY_MS).unref() : undefined;
}

/** Runs a write whose failure must not stop the caller. False if it failed; trouble.ts reports failures once for all writes. */
export function tryBestEffort(what: string, write: () => void): boolean {
  try {
    write();
    reportWriteWorked(what);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error; // a bug, not a disk error
    reportWriteFailed(what, error);
    return false;
  }
}

function set(path: string, to: { readonly value: unknown } | 'gone'): void {
  due.set(path, to);
  writeDue(path, to);
  if (due.size > 0) retry.timer ??= setTimeout(retryPendingWrites, RETRY_MS).unref();
}

function writeDue(path: string, to: { readonly value: unknown } | 'gone'): void {
  const write = () => (to === 'gone' ? rmSync(path, { force: true }) : writeJson(path, to.value));
  if (tryBestEffort(path, write) || !existsSync(dirname(path))) cancelPendingWrite(path);
}

// Reports temporary problems of this machine (a full disk, no file watches left) once when they begin and once when they end,
// so that a write that fails every second does not fill the log.

interface DiskFailure {
  readonly kind: 'disk' | 'watches';
  readonly isOver: boolean;
  readonly words: string;
}

const listeners = new Set<(trouble: DiskFailure) => void>();
/** The files and folders that fail at the moment. */
const failing = { disk: new Set<string>(), watches: new Set<string>() };

/** Returns a function that removes the listener. */
export function onDiskFailure(listener: (trouble: DiskFailure) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** `what` is the file that cannot be written. */
function reportWriteFailed(what: string, error: unknown): void {
  const why = errnoWords(errnoOf(error))?.why ?? (error as Error).message;
  const words = isDiskFull(error)
    ? `The disk is full: ${what}. threadmux keeps running and writes it when there is room.`
    : `${what} cannot be written: ${why}. threadmux keeps running and tries again.`;
  fails('disk', what, words);
}

function reportWriteWorked(what: string): void {
  const words = 'There is room again: everything has been written.';
  if (failing.disk.delete(what) && failing.disk.size === 0) tell({ kind: 'disk', isOver: true, words });
}

export function reportWatchFailed(folder: string): void {
  const words = 'The system has no file watches left: threadmux checks its folders every few seconds.';
  fails('watches', folder, words);
}

function fails(kind: DiskFailure['kind'], what: string, words: string): void {
  const isFirst = failing[kind].size === 0;
  failing[kind].add(what);
  if (isFirst) tell({ kind, isOver: false, words });
}

function tell(trouble: DiskFailure): void {
  for (const listener of [...listeners]) listener(trouble);
}
