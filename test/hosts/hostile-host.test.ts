// What a hostile host cannot do with its answers, lines and files: keep us busy for ever, or write a link into our messages.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readTurn } from '../../agents/claude/transcript/transcript.ts';
import { footer } from '../../agents/status-line.ts';
import { fetchAttachments } from '../../bridge/typed-text.ts';
import { silentLog } from '../../core/log.ts';
import { runCourier } from '../../hooks/courier-loop.ts';
import { hostOutbox, putHostLetter } from '../../hooks/host-letters.ts';
import { takeOutgoingRemoteFiles } from '../../hooks/outgoing-files.ts';
import { keepCollecting } from '../../hosts/collect-letters.ts';
import { type Host, localHost } from '../../hosts/host.ts';
import { putScripts } from '../../hosts/host-home.ts';
import { endingWords } from '../../streams/terminal/exit.ts';
import { followRemote } from '../../streams/terminal/remote-follower.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import { stopInput } from '../support/hook-process.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';

const LINK = '[update](https://example.invalid)';
const local = (path?: string) =>
  localHost({ name: 'far', env: path === undefined ? process.env : { ...process.env, PATH: path } });
/** Runs another script than the one it is asked for. */
const answering = (script: string, asked = () => {}): Host => ({
  ...local(),
  sh(_script, _args, options) {
    asked();
    return local().sh(script, [], options);
  },
  start: () => local().start(script, []),
});
const PANE = { serverPid: 7, paneId: '%1', panePid: 8 };

describe('a hostile host', () => {
  it('is disconnected when it sends lines without end', async () => {
    const lost: string[] = [];
    const collector = keepCollecting({
      host: answering('yes beat'),
      home: '/h',
      signal: new AbortController().signal,
      take: () => undefined,
      backoffMs: { first: 60_000, longest: 60_000 },
      onState: (state) => void (state.kind === 'lost' && lost.push(state.because)),
    });
    await vi.waitFor(() => expect(lost).toEqual(['far sends too many lines without a letter.']), 15_000);
    await collector.close();
  });

  it('that ends each connection, but answers otherwise, is not connected to without a pause', async () => {
    const far = answering('echo beat');
    let starts = 0;
    const host: Host = {
      ...far,
      start(...args) {
        starts++;
        return far.start(...args);
      },
    };
    const options = { host, home: '/h', signal: new AbortController().signal, take: () => undefined };
    // Every answer of the host says that it is back.
    const again = setInterval(() => collector.tryNow(), 5);
    const collector = keepCollecting({ ...options, onState: () => {} });
    onTestFinished(() => clearInterval(again));
    await sleep(2_500);
    await collector.close();
    expect(starts).toBeLessThanOrEqual(6);
  });

  it('cannot keep us busy with large letters: it waits a second for each 4 MiB', async () => {
    const letter = `head -c ${2 ** 22} /dev/zero; echo`;
    const sending = `n=100000000; while n=$((n + 1)); echo "letter 1.1/$n.5 ${2 ** 22}"; ${letter}; read -r ok; do :; done`;
    const stop = new AbortController();
    let taken = 0;
    const take = () => void taken++;
    const collector = keepCollecting({ host: answering(sending), home: '/h', signal: stop.signal, take, onState() {} });
    await vi.waitFor(() => expect(taken).toBe(1), 10_000);
    await sleep(2_500);
    await collector.close();
    expect([2, 3]).toContain(taken);
  });

  it.each(['x', '\n', 'x\n'])('has no endless transcript of %j', async (content) => {
    let reads = 0;
    const read = async (_from: number, length: number) => {
      if (++reads > 10_000) throw new Error('it reads for ever');
      return Buffer.alloc(length, content);
    };
    const file = { size: 1e15, read, sizeNow: async () => 1e15, close: async () => {} };
    expect(await readTurn('/t', { files: { open: async () => file } })).toBeUndefined();
  });

  it('that always has more of a log, but brings none of it, is asked once a second', async () => {
    let asked = 0;
    const row = ['7', '%%1', '8', '0', '', '', '', '80', '24'].join('\\t');
    const far = answering(`printf 'pane ${row}\\nopen 9\\nsegment 1 0 0\\n'`, () => asked++);
    const follower = followRemote({
      tmux: tmuxOn(far),
      pane: PANE,
      folder: '/streams/1/log',
      copy: tempFolder(),
      log: silentLog,
      untilBack: async () => {},
      tell: () => {},
    });
    await vi.waitFor(() => expect(asked).toBeGreaterThan(1), 10_000);
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    follower.close();
    await follower.over;
    expect(asked - before).toBeLessThan(4);
  });

  it('cannot fill the disk with segments of a log that have one byte each', async () => {
    const row = ['7', '%%1', '8', '0', '', '', '', '80', '24'].join('\\t');
    let first = 1;
    const pieces = (from: number) =>
      `n=${from}; while [ $n -lt ${from + 512} ]; do printf 'segment %s 0 1\\nx' $n; n=$((n + 1)); done`;
    const far: Host = {
      ...local(),
      async sh(_script, _args, options) {
        const said = await local().sh(`printf 'pane ${row}\\nopen 999999999\\n'; ${pieces(first)}`, [], options);
        first += 512;
        return said;
      },
    };
    const copy = tempFolder();
    const follower = followRemote({
      tmux: tmuxOn(far),
      pane: PANE,
      folder: '/streams/1/log',
      copy,
      log: silentLog,
      untilBack: async () => {},
      tell: () => {},
    });
    await vi.waitFor(() => expect(readdirSync(copy).length).toBeGreaterThan(1_000), 200_000);
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(readdirSync(copy).length).toBeLessThan(1_100);
    follower.close();
    await follower.over;
  });

  it('cannot put keys or other words into its pane by the path of a file that was sent there', async () => {
    const server = createServer((_, response) => response.end('file')).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = { id: '1', filename: 'a b.txt', size: 4, url: `${api}/a.txt` };
    const message = { id: '7', channelId: '1', authorId: '2', author: 'me', text: '', attachments: [file] };
    const hosts = { isLocal: () => false, get: () => answering("printf '/h/\\033[201~\\r!rm -rf ~'") };
    const parts = { server: { api }, hosts, remote: { home: async () => '/home/me/.threadmux/for/laptop' } };
    const { paths } = await fetchAttachments(message, 'far', parts as never);
    expect(paths).toEqual(['/home/me/.threadmux/for/laptop/files/7/a_b.txt']);
  });

  it.each([
    ['/h/.threadmux/for/me\\r!rm', '/h'],
    ['/elsewhere', '/h'],
    ['/h\\n/.threadmux/for/me', '/h\\n'],
    ['h/.threadmux/for/me', 'h'],
    ['/h$(x)/.threadmux/for/me', '/h$(x)'],
  ])('cannot give its home the path %j', async (home, userHome) => {
    const said = answering(`printf 'done\\0%b\\0%b\\0' '${home}' '${userHome}'`);
    await expect(putScripts(said, 'me', {})).rejects.toThrow(/far/);
  });

  it('writes no link into our messages', async () => {
    const said = (script: string) => answering(`printf '${script}'`);
    await expect(putScripts(said(`refused\\0/h\\0${LINK}\\0`), 'me', {})).rejects.toThrow('\\[update\\]');
    const typed = typeMessage(tmuxOn(said(`SIZE ${LINK}`)), { pane: PANE, command: 'sh' }, { id: '1', text: 'x' });
    await expect(typed).rejects.toThrow(/far: 0 of 1 bytes/);
    expect(endingWords({ kind: 'exited', signal: LINK, at: 1 })).toContain('\\[update\\]');
    expect(footer({ session_id: 'x', model: { display_name: LINK } })).toContain('\\[update\\]');
  });

  it('cannot stop a reply with a file that never ends', async () => {
    const [bin, project, home] = [tempFolder(), tempFolder(), tempFolder()];
    for (const tool of ['sh', 'sleep']) execFileSync('ln', ['-s', `/bin/${tool}`, join(bin, tool)]);
    writeFileSync(join(bin, 'ls'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    writeFileSync(join(project, 'x.txt'), 'x');
    mkdirSync(join(home, 'files'));
    const rules = { host: local(bin), home, project, cwd: project, lateMs: 500 };
    const taken = await takeOutgoingRemoteFiles('Here it is.\n[ATTACH: x.txt]', rules);
    expect(taken.refused).toEqual([expect.stringContaining('could not be read in time')]);
  });

  it('cannot stop a reply with a path that is too long for a program', async () => {
    const rules = { host: local(), home: '/h', project: '/p', cwd: '/p' };
    const { refused } = await takeOutgoingRemoteFiles(`[ATTACH: ${'a'.repeat(200_000)}]`, rules);
    expect(refused).toEqual([expect.stringMatching(/: not a path$/)]);
  });

  it('is not read any further when it prints more than an answer can have', async () => {
    const lines = (bytes: number) => `echo yes; head -c ${bytes} /dev/zero | tr '\\0' '\\n'`;
    const rules = { host: answering(lines(31_000_000)), home: '/h', project: '/p', cwd: '/p' };
    await expect(takeOutgoingRemoteFiles('[ATTACH: x.txt]', rules)).rejects.toThrow('it printed too much');
    await expect(putScripts(answering(lines(2_000_000)), 'me', {})).rejects.toThrow('it printed too much');
  });

  it('has one pane per folder of letters: a letter of another pane is set aside', async () => {
    const home = tempHome();
    const outbox = hostOutbox(home, 'far');
    const letter = (pane: string) =>
      Buffer.from(`threadmux 2\ntmux /s,42,0\npane ${pane}\n\n${JSON.stringify(stopInput(pane))}\n`);
    for (const [at, pane] of ['%8', '%7'].entries()) putHostLetter(outbox, '42.7', `10000000${at}.1`, letter(pane));
    const delivered: string[] = [];
    const stop = new AbortController();
    const done = runCourier({
      home,
      outbox,
      log: silentLog,
      arrived: ({ pane }) => void delivered.push(`arrived ${pane}`),
      deliver: async ({ pane }) => void delivered.push(pane),
      lingerMs: 60_000,
      signal: stop.signal,
    });
    await vi.waitFor(() => expect(delivered).toContain('%7'), 10_000);
    stop.abort();
    await done;
    expect(delivered).toEqual(['arrived %7', '%7']);
  });
});
