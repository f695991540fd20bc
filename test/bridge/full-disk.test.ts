import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import { silentLog } from '../../core/log.ts';
import { openHome } from '../../home/home.ts';
import { holderOf } from '../../home/lock.ts';
import { takeCourierLock } from '../../hooks/courier-lock.ts';
import { runCourier } from '../../hooks/courier-loop.ts';
import { smallDisk } from '../support/disk.ts';
import { stopInput } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';

const MESSAGE = {
  id: '9000000000000000001',
  channelId: '5',
  authorId: '6',
  author: 'ada',
  text: 'hello',
  attachments: [],
};

describe('the inbox', () => {
  it('accepts a message later if its cursor could not be saved, instead of skipping it', () => {
    const disk = smallDisk(256);
    const cursors = openCursors(join(disk.dir, 'cursors.json'), Date.now());
    const inbox = openInbox(tempFolder(), cursors, 'test');
    disk.fill();
    expect(() => inbox.take(MESSAGE)).toThrow('ENOSPC');
    disk.free();
    expect(inbox.take(MESSAGE)).toBe(true);
    expect(inbox.take(MESSAGE)).toBe(false);
  });

  it('does not fail when a message is done on a disk that became read-only', () => {
    const disk = smallDisk(256);
    const folder = join(disk.dir, 'inbox');
    mkdirSync(folder);
    const inbox = openInbox(folder, openCursors(join(tempFolder(), 'cursors.json'), Date.now()), 'test');
    inbox.take(MESSAGE);
    disk.readOnly();
    expect(() => inbox.done(MESSAGE)).not.toThrow();
    expect(readdirSync(folder)).toHaveLength(1);
  });
});

describe('the courier', () => {
  const begin = (root: string, deliver: () => Promise<void>) => {
    const stop = new AbortController();
    const home = openHome(root);
    const work = async () => {
      const release = await takeCourierLock({ home, log: silentLog });
      if (release === undefined) return false;
      const options = { arrived: () => {}, deliver, lingerMs: 60_000, signal: stop.signal };
      await runCourier({ home, log: silentLog, ...options }).finally(release);
      return true;
    };
    const done = work();
    onTestFinished(async () => {
      stop.abort();
      await done;
    });
  };

  it('exits where there is no space for its lock, and does not block the next one', async () => {
    const disk = smallDisk(256);
    openHome(join(disk.dir, 'home')).folder('state');
    disk.fill();
    const home = openHome(join(disk.dir, 'home'));
    expect(await takeCourierLock({ home, log: silentLog })).toBe(undefined);
    disk.free();
    const release = await takeCourierLock({ home, log: silentLog });
    expect(holderOf(home.path('state', 'courier.lock'))).toBe(process.pid);
    release?.();
  });

  it('delivers a letter once that it cannot remove from a read-only disk', async () => {
    const disk = smallDisk(256);
    const root = join(disk.dir, 'home');
    const box = join(openHome(root).folder('outbox'), '4242.7');
    mkdirSync(box);
    const head = ['threadmux 2', 'tmux /run/tmux,4242,0', 'pane %7', 'entrypoint cli', ''];
    writeFileSync(join(box, '000000001.1'), [...head, JSON.stringify(stopInput('hi'))].join('\n'));
    let times = 0;
    begin(root, async () => {
      times++;
      disk.readOnly();
    });
    await vi.waitFor(() => expect(times).toBe(1));
    await sleep(3_000); // long enough for two more attempts
    expect(times).toBe(1);
    expect(readdirSync(box)).toHaveLength(1);
  });
});
