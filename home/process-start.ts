// When a process began: a pid alone is used again. Read from /proc on Linux, from `ps` elsewhere.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A number as text; it says nothing across machines. Gone: no such process. Unknown: it lives, and that is all we know. */
type ProcessStart = `${number}` | 'gone' | 'unknown';

export function processStart(pid: number): ProcessStart {
  if (!isAlive(pid)) return 'gone';
  try {
    return process.platform === 'linux'
      ? parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
      : parsePs(ps(pid));
  } catch {
    return isAlive(pid) ? 'unknown' : 'gone';
  }
}

/** Whether the process with this pid is the one that wrote down `noted`. Of one that cannot be compared, it is taken for the same. */
export function isSameStart(noted: string, now: ProcessStart): boolean {
  if (now === 'gone') return false;
  return now === 'unknown' || !/^\d+$/.test(noted) || noted === now;
}

/** /proc/<pid>/stat; the name in brackets may hold spaces and brackets itself. */
export function parseStat(text: string): ProcessStart {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z') return 'gone';
  return numbered(fields[19]);
}

/** `ps -o stat= -o lstart=` in the C locale and UTC, such as "S    Mon Nov 16 13:05:58 2026", as seconds. */
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

/** A process of somebody else may not be signalled, and lives all the same. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
