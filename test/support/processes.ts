// The processes of this machine that a test has to find or end.

import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { vi } from 'vitest';

/** The processes of panes: their shells and all descendants. */
export function processesIn(panes: readonly string[]): readonly number[] {
  const pairs = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
  const found = new Set(panes);
  for (const [pid = '', parent = ''] of [...pairs, ...pairs]) if (found.has(parent)) found.add(pid);
  return [...found].map(Number).filter((pid) => pid > 0);
}

/** Claude Code writes its files until it has exited; if it does not exit, it is killed. */
export async function goneOrKilled(pids: readonly number[]): Promise<void> {
  const left = () => pids.filter((pid) => spawnSync('kill', ['-0', String(pid)]).status === 0);
  await vi.waitUntil(() => left().length === 0, { timeout: 5_000, interval: 100 }).catch(() => {});
  for (const pid of left()) spawnSync('kill', ['-9', String(pid)]);
}

/** Of every process. On Linux from /proc: `ps` would cost as much as the test that asks again and again. */
export function commandLines(): readonly { readonly pid: number; readonly args: string }[] {
  if (process.platform !== 'linux')
    return execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8', maxBuffer: 1e8 })
      .split('\n')
      .map((line) => ({ pid: Number.parseInt(line, 10), args: line.trim().replace(/^\d+ +/, '') }));
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return [{ pid: Number(name), args: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      return []; // it has ended
    }
  });
}

/** `ps` of every process with this word in its command line. */
export function processesWith(word: string): readonly string[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(word) && !/^\s*\d+\s+Z/.test(line));
}
