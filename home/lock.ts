// A lock for one process at a time: a file that names its holder. A lock whose holder has ended (killed, rebooted) is free, so
// nobody has to remove it by hand.

import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { readJson } from './atomic-write.ts';

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

// When a process started. With it a pid is unique: pids alone are reused. Read from /proc on Linux, from `ps` elsewhere.

/** A number as text, comparable only on the same machine. 'gone': no such process. 'unknown': it runs, but its start is not known. */
type ProcessStart = `${number}` | 'gone' | 'unknown';

export function processStart(pid: number): ProcessStart {
  if (!isAlive(pid)) return 'gone';
  try {
    return process.platform === 'linux' ? parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) : startByPs(pid);
  } catch {
    return isAlive(pid) ? 'unknown' : 'gone';
  }
}

/** Whether the process with this pid is still the one that recorded `noted`. If that cannot be compared, true. */
export function isSameStart(noted: string, now: ProcessStart): boolean {
  if (now === 'gone') return false;
  return now === 'unknown' || !/^\d+$/.test(noted) || noted === now;
}

/** Parses /proc/<pid>/stat; the process name in brackets may itself contain spaces and brackets. */
export function parseStat(text: string): ProcessStart {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z') return 'gone';
  return numbered(fields[19]);
}

/** Parses `ps -o stat= -o lstart=` in the C locale and UTC, such as "S    Mon Nov 16 13:05:58 2026", into seconds. */
export function parsePs(text: string): ProcessStart {
  const [, state = '', month = '', day, time, year] =
    /^\s*(\S+)\s+\w+\s+(\w+)\s+(\d+)\s+(\d\d:\d\d:\d\d)\s+(\d{4})\s*$/.exec(text) ?? [];
  if (state.startsWith('Z')) return 'gone';
  return numbered(String(Date.parse(`${day} ${month} ${year} ${time} GMT`) / 1_000));
}

function numbered(text: string | undefined): ProcessStart {
  return /^\d+$/.test(text ?? '') ? (text as `${number}`) : 'unknown';
}

/** Where there is no /proc. The language and time zone of the user must not change the result. */
export function startByPs(pid: number): ProcessStart {
  const printed = execFileSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return parsePs(printed);
}

/** EPERM: the process runs, but belongs to another user. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
