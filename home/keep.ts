// State that memory has as well. If it cannot be written now (a full disk), the work goes on and the newest value is written as soon
// as it can be: no reply and no message may wait for that.

import { existsSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeJson } from './files.ts';
import { diskFails, diskWorks } from './trouble.ts';

const RETRY_MS = 2_000;
/** By its path: the value to write, or that the file is to go. */
const due = new Map<string, { readonly value: unknown } | 'gone'>();
const retry: { timer: NodeJS.Timeout | undefined } = { timer: undefined };

export function keep(path: string, value: unknown): void {
  set(path, { value });
}

/** Removes the file, now or as soon as it can be. */
export function discard(path: string): void {
  set(path, 'gone');
}

/** Somebody else has written the file: an older value must not come back. */
export function forgetKept(path: string): void {
  due.delete(path);
  diskWorks(path);
}

/** Whatever is still due, once more; for the end of a process, too. */
export function writeKept(): void {
  clearTimeout(retry.timer);
  for (const [path, to] of [...due]) writeDue(path, to);
  retry.timer = due.size > 0 ? setTimeout(writeKept, RETRY_MS).unref() : undefined;
}

/** Runs a write that must not stop the work around it. False if it failed, which is said once for all of them. */
export function attempt(what: string, write: () => void): boolean {
  try {
    write();
    diskWorks(what);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error; // a fault of ours
    diskFails(what, error);
    return false;
  }
}

function set(path: string, to: { readonly value: unknown } | 'gone'): void {
  due.set(path, to);
  writeDue(path, to);
  if (due.size > 0) retry.timer ??= setTimeout(writeKept, RETRY_MS).unref();
}

function writeDue(path: string, to: { readonly value: unknown } | 'gone'): void {
  const write = () => (to === 'gone' ? rmSync(path, { force: true }) : writeJson(path, to.value));
  if (attempt(path, write) || !existsSync(dirname(path))) forgetKept(path);
}
