import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { holderOf, tryLock } from '../../home/lock.ts';
import { tempFolder } from '../support/temp-home.ts';

const LOCK = new URL('../../dist/home/lock.js', import.meta.url).href;

/** A real process that takes the lock, says whether it succeeded, and stays. */
async function locker(path: string) {
  const script = `const { tryLock } = await import(${JSON.stringify(LOCK)});
    const got = tryLock(process.argv[1]) !== undefined;
    console.log(got); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, path]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [said] = await once(child.stdout, 'data');
  return { child, got: String(said).trim() === 'true' };
}

describe('the lock', () => {
  it('is held by one process and free again after its release', () => {
    const path = join(tempFolder(), 'lock');
    const release = tryLock(path);
    expect(release).toBeDefined();
    expect(holderOf(path)).toBe(process.pid);
    expect(tryLock(path)).toBeUndefined();
    release?.();
    expect(existsSync(path)).toBe(false);
    expect(tryLock(path)).toBeDefined();
  });

  it('is refused while another process holds it, and taken over once that process was killed', async () => {
    const path = join(tempFolder(), 'lock');
    const { child, got } = await locker(path);
    expect(got).toBe(true);
    expect(tryLock(path)).toBeUndefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(tryLock(path)).toBeDefined();
  });

  it('is not held by a pid that now belongs to another program', () => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, JSON.stringify({ pid: process.pid, started: '1' }));
    expect(tryLock(path)).toBeDefined();
  });

  it.each(['Mon Nov 16 14:05:58 2026', 'lun. 16 nov. 13:05:58 2026', 'gone'])(
    'is held by a running pid whose start was recorded as %j, which cannot be compared',
    (started) => {
      const path = join(tempFolder(), 'lock');
      writeFileSync(path, JSON.stringify({ pid: process.ppid, started }));
      expect(tryLock(path)).toBeUndefined();
      expect(holderOf(path)).toBe(process.ppid);
    },
  );

  it.each(['gone', 'unknown'])('is not held by a pid that does not exist, whatever was recorded: %s', (started) => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, JSON.stringify({ pid: 999_999_999, started }));
    expect(tryLock(path)).toBeDefined();
  });

  it.each(['', 'garbage', '{"pid":-1}'])('is taken over when its file contains %j', (text) => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, text);
    expect(tryLock(path)).toBeDefined();
  });

  it('goes to one of many that find it stale at the same moment', async () => {
    const path = join(tempFolder(), 'lock');
    writeFileSync(path, JSON.stringify({ pid: 999_999_999, started: '1' }));
    const all = await Promise.all(Array.from({ length: 8 }, () => locker(path)));
    expect(all.filter(({ got }) => got)).toHaveLength(1);
  });
});
