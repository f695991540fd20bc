// The disk is really full: the test mounts a small one and fills it.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { createDebouncedWrite } from '../../bridge/debounced-write.ts';
import { cancelPendingWrite, onDiskFailure, readJson, writeBestEffort, writeWhole } from '../../home/atomic-write.ts';
import { openHome } from '../../home/home.ts';
import { tryLock } from '../../home/lock.ts';
import { openLogFile } from '../../home/log-file.ts';
import { smallDisk } from '../support/disk.ts';

const WAIT = { timeout: 15_000, interval: 50 } as const;
const schema = z.object({ n: z.number() });
const openFiles = () => readdirSync('/dev/fd').length;

function said() {
  const lines: string[] = [];
  onTestFinished(onDiskFailure(({ words }) => lines.push(words)));
  return lines;
}

describe('a full disk', () => {
  it('leaks no descriptor and leaves no partial file, however often a write fails', () => {
    const disk = smallDisk(256);
    const path = join(disk.dir, 'a');
    writeWhole(path, 'before');
    disk.fill();
    const before = openFiles();
    for (let n = 0; n < 20; n++) expect(() => writeWhole(path, 'x'.repeat(9_000))).toThrow('ENOSPC');
    expect(openFiles()).toBe(before);
    expect(readdirSync(disk.dir).sort()).toEqual(['a', 'ballast']);
  });

  it('delays saved values: the newest is written when there is space, and both events are logged once', async () => {
    const disk = smallDisk(256);
    const lines = said();
    const path = join(disk.dir, 'kept.json');
    disk.fill();
    for (let n = 1; n <= 3; n++) writeBestEffort(path, { n });
    writeBestEffort(join(disk.dir, 'other.json'), { n: 9 });
    expect(lines).toEqual([expect.stringContaining('The disk is full')]);
    disk.free();
    await vi.waitFor(() => expect(readJson(path, schema)).toEqual({ n: 3 }), WAIT);
    await vi.waitFor(() => expect(readdirSync(disk.dir)).toContain('other.json'), WAIT);
    expect(lines).toHaveLength(2);
  });

  it('does not restore a value that was removed in between', async () => {
    const disk = smallDisk(256);
    disk.fill();
    writeBestEffort(join(disk.dir, 'gone.json'), { n: 1 });
    writeBestEffort(join(disk.dir, 'stays.json'), { n: 2 });
    cancelPendingWrite(join(disk.dir, 'gone.json'));
    disk.free();
    await vi.waitFor(() => expect(readdirSync(disk.dir)).toEqual(['stays.json']), WAIT);
  });

  it('does not end a process that writes in a timer', async () => {
    const disk = smallDisk(256);
    const path = join(disk.dir, 'later');
    const later = createDebouncedWrite<string>((text) => writeWhole(path, text), 10);
    const lines = said();
    disk.fill();
    later.set('one');
    await vi.waitFor(() => expect(lines).toHaveLength(1), WAIT);
    later.set('two');
    expect(() => later.flush()).not.toThrow();
    disk.free();
    await vi.waitFor(() => expect(readdirSync(disk.dir)).toEqual(['later']), WAIT);
  });

  it('prevents a lock, and leaves nothing of the attempt', () => {
    const disk = smallDisk(256);
    const path = join(disk.dir, 'lock');
    disk.fill();
    expect(() => tryLock(path)).toThrow('ENOSPC');
    expect(readdirSync(disk.dir)).toEqual(['ballast']);
    disk.free();
    expect(tryLock(path)).toBeDefined();
  });

  it('is reported when the log itself cannot be written', async () => {
    const disk = smallDisk(256);
    const log = openLogFile(openHome(join(disk.dir, 'home')), 'test');
    const lines = said();
    disk.fill();
    for (let n = 0; n < 100; n++) log.info('x'.repeat(100));
    expect(lines).toHaveLength(1);
    disk.free();
    log.info('again');
    expect(lines).toHaveLength(2);
  });
});

describe('a read-only home', () => {
  it('is reported as read-only, with the next step', () => {
    const disk = smallDisk(256);
    disk.readOnly();
    expect(() => openHome(join(disk.dir, 'home'))).toThrow(/the disk is read-only/);
    try {
      openHome(join(disk.dir, 'home'));
    } catch (error) {
      expect((error as { hint: string }).hint).toMatch(/THREADMUX_HOME/);
      expect((error as { hint: string }).hint).not.toMatch(/room/);
    }
  });
});
