// When a process started. With it a pid is unique: pids alone are reused. Read from /proc on Linux, from `ps` elsewhere.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A number as text, comparable only on the same machine. 'gone': no such process. 'unknown': it runs, but its start is not known. */
type ProcessStart = `${number}` | 'gone' | 'unknown';

export function processStart(pid: number): ProcessStart {
  if (!isAlive(pid)) return 'gone';
  try {
    return process.platform === 'linux' ? parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')) : parsePs(ps(pid));
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

function ps(pid: number): string {
  return execFileSync('ps', ['-o', 'stat=', '-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
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
