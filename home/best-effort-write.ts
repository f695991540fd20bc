// Writes state that is also in memory. If a write fails (a full disk), the caller continues and the newest value is written
// later: no reply or message waits for the disk.

import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { reportWriteFailed, reportWriteWorked } from './disk-failures.ts';
import { writeJson } from './whole-file.ts';

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
