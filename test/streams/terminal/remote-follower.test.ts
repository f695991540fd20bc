// The log of a terminal on another host, copied over a real ssh that fails in between, by the shell of a small system.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { LOG_START, openTerminalLog } from '../../../streams/terminal/log.ts';
import { copyPieces } from '../../../streams/terminal/remote-follower.ts';
import { readLook } from '../../../streams/terminal/remote-log.ts';
import { followTerminal, startTerminal } from '../../../streams/terminal/terminal.ts';
import { tmuxOn } from '../../../tmux/tmux.ts';
import { startSshServer } from '../../support/ssh-server.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { terminalSetting, wanted } from '../../support/terminal.ts';

const WAIT = { timeout: 30_000, interval: 50 } as const;
const GAP = 'output was dropped here';

async function farSetting(shell = 'busybox sh') {
  const setting = await terminalSetting();
  const ssh = await startSshServer({ shell });
  const { server, thread } = setting;
  const untilBack = async () => void (await sleep(100));
  const parts = { ...setting.parts, tmux: tmuxOn(ssh.host(), server.socket), untilBack };
  const logFolder = join(ssh.home, 'streams', thread, 'log');
  return {
    ...setting,
    ssh,
    logFolder,
    start(command: string, log = {}) {
      const { record, ...rest } = wanted(thread, server.dir, command);
      const far = { host: 'far', logFolder };
      return startTerminal(parts, { ...rest, record: { ...record, far } }, log);
    },
    follow: (record: Awaited<ReturnType<typeof startTerminal>>) => followTerminal(parts, record, { everyMs: 100 }),
    isDead: () => server.call('list-panes', '-a', '-F', '#{pane_dead}') === '1',
  };
}

const numbers = (text: string) => [...text.matchAll(/^n(\d+)$/gm)].map(([, number]) => Number(number));

describe('a terminal on another host', () => {
  it.each(['busybox sh', '/usr/bin/fish'])(
    'loses and repeats nothing when the connection breaks repeatedly: %s',
    async (shell) => {
      const { ssh, start, follow, text, logFolder } = await farSetting(shell);
      const command = 'i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo n$i; sleep 0.01; done';
      const terminal = follow(await start(`exec sh -c '${command}'`, { readsPerSegment: 7 }));
      let over = false;
      const breaking = (async () => {
        for (let times = 0; times < 8 && !over; times++) {
          await sleep(700);
          ssh.drop();
        }
      })();
      await terminal.ended;
      over = true;
      await breaking;
      expect(numbers(await text())).toEqual(Array.from({ length: 400 }, (_, at) => at + 1));
      await vi.waitFor(() => expect(existsSync(logFolder)).toBe(false), WAIT);
      await terminal.close();
    },
  );

  it('says so where the cap of the log removed something that was not copied yet', async () => {
    const { start, follow, text, isDead } = await farSetting();
    const command = 'echo n1; sleep 2; i=0; while [ $i -lt 9000 ]; do i=$((i+1)); echo "line $i"; done; echo n2';
    const record = await start(`exec sh -c '${command}'`, { readsPerSegment: 4, maxBytes: 20_000 });
    const first = follow(record);
    await vi.waitFor(async () => expect(await text()).toContain('n1'), WAIT);
    await first.close();
    await vi.waitFor(() => expect(isDead()).toBe(true), WAIT);
    const second = follow(record);
    await second.ended;
    const all = await text();
    expect(numbers(all)).toEqual([1, 2]);
    expect(all.split(GAP)).toHaveLength(2);
    await second.close();
  });

  it('is copied from where the copy ends, and a truncated segment is a gap', async () => {
    const copy = tempFolder();
    const piece = (segment: number, from: number, text: string, whole: boolean) => ({
      segment,
      from,
      whole,
      bytes: Buffer.from(text),
    });
    const log = openTerminalLog(copy, LOG_START);
    const read = () => {
      const reading = log.read(100);
      return reading.kind === 'bytes' ? String(Buffer.from(reading.bytes)) : reading.kind;
    };
    expect(await copyPieces(copy, [piece(1, 0, 'abc', false)])).toBe(true);
    expect(await copyPieces(copy, [piece(1, 0, 'abc', false)])).toBe(false);
    expect(await copyPieces(copy, [piece(1, 0, 'abcde', true), piece(2, 0, 'f', false)])).toBe(true);
    expect([read(), read(), read()]).toEqual(['abcde', 'f', 'nothing']);
    expect(await copyPieces(copy, [piece(3, 0, 'xyz', false)])).toBe(true);
    expect([read(), read(), read()]).toEqual(['gap', 'xyz', 'nothing']);
    // What was copied before the gap is not shown yet, and stays.
    expect(await copyPieces(copy, [piece(3, 3, '!', false)])).toBe(true);
    expect(await copyPieces(copy, [piece(4, 0, 'end', false)])).toBe(true);
    expect([read(), read(), read(), read()]).toEqual(['!', 'gap', 'end', 'nothing']);
    log.forget({ segment: 4, offset: 0 });
    expect(readdirSync(copy)).toEqual(['4']);
  });

  it('is read as data, and anything malformed is refused', () => {
    const pane = { serverPid: 1, paneId: '%1', panePid: 2 };
    const head = "none can't find pane: %1\nend 3\n";
    const look = readLook(`${head}segment 2 0 2\nabsegment 3 0 -\ncd\nsegment x`, pane);
    expect(look).toMatchObject({ seen: { kind: 'gone' }, ended: true, more: false });
    expect(look.pieces.map(({ segment, bytes }) => [segment, bytes.toString()])).toEqual([
      [2, 'ab'],
      [3, 'cd\nsegment x'],
    ]);
    for (const said of [
      'none the disk is full\nopen 0\n',
      `${head}segment 2 0 99\nab`,
      `${head}segment -1 0 2\nab`,
      `${head}segment ../x 0 2\nab`,
      `${head}segment 2 0 1\nasegment 2 0 -\nb`,
    ])
      expect(() => readLook(said, pane)).toThrow(/could not be read/);
  });
});
