// A lock for one process at a time: a file that names its holder. A lock whose holder has ended (killed, rebooted) is free, so
// nobody has to remove it by hand.

import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { isSameStart, processStart } from './process-start.ts';
import { readJson } from './whole-file.ts';

const holderSchema = z.object({ pid: z.number().int().positive(), started: z.string() });

/** Returns a function that releases the lock, or undefined while another running process holds it. */
export function tryLock(path: string): (() => void) | undefined {
  const mine = JSON.stringify({ pid: process.pid, started: processStart(process.pid) });
  for (let tries = 0; tries < 5; tries++) {
    if (claim(path, mine)) return () => releaseIfMine(path, mine);
    if (holderOf(path) !== undefined) return undefined;
    removeIfUnchanged(path);
  }
  return undefined;
}

/** The running process that holds the lock. */
export function holderOf(path: string): number | undefined {
  const holder = readJson(path, holderSchema);
  if (holder === undefined) return undefined;
  return isSameStart(holder.started, processStart(holder.pid)) ? holder.pid : undefined;
}

/** Only one process can create a hard link of this name, and the file is complete as soon as it exists. */
function claim(path: string, text: string): boolean {
  const temp = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  try {
    writeFileSync(temp, text, { flag: 'wx', mode: 0o600 });
    linkSync(temp, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw Object.assign(error as Error, { path });
  } finally {
    rmSync(temp, { force: true });
  }
}

/** Of two processes that find the same stale lock, the slower one must not remove the new lock of the faster one. */
function removeIfUnchanged(path: string): void {
  const release = claimRemoval(path);
  if (release === undefined) return;
  try {
    if (holderOf(path) === undefined) rmSync(path, { force: true });
  } finally {
    release();
  }
}

function claimRemoval(path: string): (() => void) | undefined {
  const removal = `${path}.broom`;
  const mine = JSON.stringify({ pid: process.pid, started: processStart(process.pid) });
  if (claim(removal, mine)) return () => rmSync(removal, { force: true });
  if (holderOf(removal) === undefined) rmSync(removal, { force: true });
  return undefined;
}

function releaseIfMine(path: string, mine: string): void {
  try {
    if (readFileSync(path, 'utf8') === mine) rmSync(path, { force: true });
  } catch {
    // The file is already gone.
  }
}
