// A small disk, really mounted: it can be filled, emptied and made read-only. Permission bits do not stop root.

import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { tempFolder } from './temp-home.ts';

interface Disk {
  readonly dir: string;
  /** Leaves no space for a single byte. */
  fill(): void;
  free(): void;
  readOnly(): void;
}

export function smallDisk(kilobytes = 4096): Disk {
  const folder = tempFolder();
  const dir = join(folder, 'disk');
  mkdirSync(dir);
  const isMac = process.platform === 'darwin';
  if (isMac) mountImage(folder, dir, kilobytes);
  else mountTmpfs(dir, kilobytes);
  onTestFinished(() => {
    if (isMac) execFileSync('hdiutil', ['detach', '-force', dir], { stdio: 'ignore' });
    else asRoot('umount', '--lazy', dir);
  });
  const ballast = join(dir, 'ballast');
  return {
    dir,
    fill() {
      const fd = openSync(ballast, 'a');
      try {
        for (const size of [65_536, 4_096, 1]) {
          const chunk = Buffer.alloc(size, 1);
          while (writesAll(fd, chunk));
        }
      } finally {
        closeSync(fd);
      }
    },
    free: () => rmSync(ballast),
    readOnly() {
      if (isMac) execFileSync('mount', ['-u', '-o', 'ro', dir]);
      else asRoot('mount', '-o', 'remount,ro', dir);
    },
  };
}

function writesAll(fd: number, chunk: Buffer): boolean {
  try {
    return writeSync(fd, chunk) === chunk.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}

function mountTmpfs(dir: string, kilobytes: number): void {
  const owner = `uid=${process.getuid?.()},gid=${process.getgid?.()},mode=700`;
  asRoot('mount', '-t', 'tmpfs', '-o', `size=${kilobytes}k,${owner}`, 'threadmux-test', dir);
}

function mountImage(folder: string, dir: string, kilobytes: number): void {
  const image = join(folder, 'disk.dmg');
  const create = ['create', '-size', `${kilobytes}k`, '-fs', 'HFS+', '-volname', 'test', image];
  execFileSync('hdiutil', create, { stdio: 'ignore' });
  execFileSync('hdiutil', ['attach', '-mountpoint', dir, image], { stdio: 'ignore' });
}

function asRoot(program: string, ...args: readonly string[]): void {
  const [first = '', ...rest] = process.getuid?.() === 0 ? [program] : ['sudo', '-n', program];
  try {
    execFileSync(first, [...rest, ...args], { stdio: 'pipe' });
  } catch (error) {
    throw new Error('this test mounts a small disk: run it as root, or where `sudo -n mount` works', { cause: error });
  }
}
