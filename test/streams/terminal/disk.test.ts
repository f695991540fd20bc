import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTextStore } from '../../../streams/terminal/state.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { expectText, sleep, terminalSetting, waitFor } from '../../support/terminal.ts';

const LINES = 'for i in $(seq 1 40); do echo "line $i"; sleep 0.05; done; exit 3';
const EXPECTED = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join('');

describe('a terminal whose disk fails for a while', () => {
  it('continues as soon as its state can be written again', async () => {
    const setting = await terminalSetting();
    const terminal = setting.follow(await setting.start(LINES), { retryMs: 50 });
    await waitFor(async () => expect(await setting.text()).toContain('line 2\n'));
    const folder = setting.parts.home.path('streams', setting.thread);
    // A write that is under way would rename our folder to state.json if there was no such file yet.
    await waitFor(() => expect(existsSync(join(folder, 'state.json'))).toBe(true));
    const inTheWay = join(folder, '.state.tmp');
    await blocked(inTheWay);
    await sleep(500);
    rmSync(inTheWay, { recursive: true });
    await terminal.ended;
    expectText(await setting.text(), EXPECTED);
    expect((await setting.messages()).at(-1)?.content).toMatch(/^⏹️ Exited with code 3/);
  });

  it('continues as soon as its text can be written again', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('read a; seq 1 60; read b');
    const text = setting.parts.home.path('streams', setting.thread, 'text-0');
    setting.follow(record, { retryMs: 50 });
    await waitFor(() => expect(statSync(text).size).toBe(0));
    rmSync(text);
    mkdirSync(text);
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await sleep(500);
    rmSync(text, { recursive: true });
    writeFileSync(text, '');
    const all = `\n${Array.from({ length: 60 }, (_, at) => `${at + 1}\n`).join('')}`;
    await waitFor(async () => expect(await setting.text()).toBe(all));
  });

  it('rewrites its text where a failed attempt left half of it', () => {
    const folder = tempFolder();
    const store = openTextStore(folder, undefined, 1000);
    store.append('first\n');
    writeFileSync(join(folder, 'text-0'), 'sec', { flag: 'a' }); // and no space for the rest
    store.append('second\n');
    expect(String(store.slice(0, store.kept().length))).toBe('first\nsecond\n');
  });

  it('keeps its text when there is no space for the shorter one', () => {
    const folder = tempFolder();
    const store = openTextStore(folder, undefined, 10);
    store.append('0123456789'.repeat(3));
    mkdirSync(join(folder, 'text-20'));
    expect(() => store.cap(30)).toThrow();
    expect(String(store.slice(0, 30))).toBe('0123456789'.repeat(3));
    rmSync(join(folder, 'text-20'), { recursive: true });
    store.cap(30);
    expect(store.kept()).toEqual({ base: 20, length: 30 });
    expect(String(store.slice(20, 30))).toBe('0123456789');
  });
});

describe("a terminal's log on a full disk", () => {
  it('keeps what it has, says what is missing, and continues', async () => {
    const setting = await terminalSetting();
    const { socket, dir } = setting.server;
    // Every file is limited to some kilobytes: dd fails with a partly written segment.
    execFileSync('sh', ['-c', 'ulimit -f 16; exec tmux -S "$1" -f /dev/null new-session -d', 'sh', socket], {
      env: { PATH: process.env.PATH, HOME: dir, SHELL: '/bin/sh', LANG: 'C.UTF-8' },
    });
    const record = await setting.start('seq 1 9999; for i in 1 2 3 4; do sleep 0.2; echo late $i; done', {
      maxBytes: 1e6,
    });
    await waitFor(() =>
      expect(setting.server.call('display-message', '-p', '-t', record.pane?.paneId ?? '', '#{pane_dead}')).toBe('1'),
    );
    setting.follow(record);
    await waitFor(async () => expect((await setting.messages()).at(-1)?.content).toMatch(/^⏹️/));
    const text = await setting.text();
    expect(text).toMatch(/^1\n2\n3\n/);
    expect(text).toContain('… output was dropped here: the log had no room for it …\n');
    expect(text).toMatch(/late 3\nlate 4\n$/);
  });
});

describe('a terminal whose machine may lose power', () => {
  it('never refers to a text that is not yet synced to the disk', async () => {
    const synced = await watchSyncs();
    const setting = await terminalSetting();
    const folder = setting.parts.home.path('streams', setting.thread);
    const record = await setting.start('seq 1 200; read a');
    setting.follow(record);
    await waitFor(() => expect(synced.length).toBeGreaterThan(1));
    const text = statSync(join(folder, 'text-0'));
    expect(text.size).toBeGreaterThan(0);
    const state = synced.findIndex(({ ino }) => ino !== text.ino);
    expect(synced.slice(0, state)).toContainEqual({ ino: text.ino, size: text.size });
  });
});

/** A folder in place of a file has the same effect as a full disk. */
async function blocked(path: string): Promise<void> {
  await waitFor(() => {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  });
}

/** Every file that is synced from now on, in order. */
async function watchSyncs(): Promise<{ readonly ino: number; readonly size: number }[]> {
  const synced: { ino: number; size: number }[] = [];
  const handle = await open('/dev/null');
  const prototype: FileHandle = Object.getPrototypeOf(handle);
  await handle.close();
  const { datasync } = prototype;
  prototype.datasync = async function (this: FileHandle) {
    await datasync.call(this);
    const { ino, size } = await this.stat();
    synced.push({ ino, size });
  };
  onTestFinished(() => {
    prototype.datasync = datasync;
  });
  return synced;
}
