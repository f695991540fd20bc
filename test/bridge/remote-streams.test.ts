// Terminals on another host, over a real ssh: the same features as local ones, also while the host or the bridge is down.

import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loadStreamRecord } from '../../home/stream-record.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, openSuggestions, WAIT } from './bridge-setup.ts';
import { type FarOptions, startFar } from './remote-host.ts';
import { printed, sessions, untilPrinted } from './terminal-output.ts';

async function start({ roots = ['~/code'], ...options }: FarOptions & { roots?: string[] } = {}) {
  const far = await startFar({
    ...options,
    roots,
    before(ssh) {
      for (const name of ['shop', 'api']) mkdirSync(join(ssh.home, 'code', name), { recursive: true });
      mkdirSync(join(ssh.home, 'secret'));
      symlinkSync(join(ssh.home, 'secret'), join(ssh.home, 'code', 'out'));
    },
  });
  const { channelId } = far.workspace;
  const home = join(far.ssh.home, '.threadmux', 'for', 'laptop');
  return {
    far,
    channelId,
    shop: join(far.ssh.home, 'code', 'shop'),
    logs: () => (existsSync(join(home, 'streams')) ? readdirSync(join(home, 'streams')) : []),
    async terminal(command: string, dir = 'far:shop') {
      await far.say(channelId, `!terminal ${dir} ${command}`);
      const up = await far.answer(channelId, /^🖥️ .* is up/);
      const [, name = '', thread = ''] = /`([^`]+)` is up: <#(\d+)>/.exec(up.content) ?? [];
      return { name, thread };
    },
  };
}

const numbers = (text: string) => [...text.matchAll(/^n(\d+)$/gm)].map(([, number]) => Number(number));
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

describe('!terminal on another host', () => {
  it('runs on the host, streams its output, takes input and keys, and is ended by !done', async () => {
    const { far, channelId, shop, terminal, logs } = await start();
    const { name, thread } = await terminal(
      `exec sh -c 'trap "echo caught" INT; pwd; while :; do read line && echo "heard $line"; done'`,
    );
    expect(name).toBe('shop-exec');
    await untilPrinted(far, thread, shop);
    expect(sessions(far.place)).toEqual([name]);
    const { body } = await far.workspace.person.call('GET', `/channels/${thread}`);
    expect(body.name).toBe('[terminal] shop-exec@far');
    await far.untilMarked(await far.say(thread, 'ä "now" $HOME'), '✅');
    await untilPrinted(far, thread, 'heard ä "now" $HOME\n');
    await far.say(thread, '!c');
    await untilPrinted(far, thread, 'caught');
    await far.say(thread, '!screen');
    await far.answer(thread, /heard ä/);
    await far.say(channelId, '!status');
    await far.answer(channelId, /🖥️ terminal `shop-exec` .*running.*`far:.*code\/shop`/);
    expect(logs()).toEqual([thread]);
    await far.say(thread, '!done');
    await far.answer(thread, /^⏹️ `shop-exec`: .* ended/);
    await vi.waitFor(() => expect(sessions(far.place)).not.toContain(name), WAIT);
    await vi.waitFor(() => expect(logs()).toEqual([]), WAIT);
    expect(loadStreamRecord(far.machine.home, thread)).toBeUndefined();
  });

  it('shows its last output and then how it ended, also after a long silence', async () => {
    const { far, terminal, logs } = await start();
    const { name, thread } = await terminal('echo first; sleep 3; printf "last words"; exit 7');
    await untilPrinted(far, thread, 'first');
    const told = vi.fn();
    far.shared.sessionsChanged.listen(told);
    await far.answer(thread, /^⏹️ Exited with code 7/);
    expect(told, 'the host did not report the end by itself').toHaveBeenCalled();
    expect(await printed(far, thread)).toContain('first\nlast words');
    await vi.waitFor(() => expect(logs()).toEqual([]), WAIT);
    await far.say(thread, `!kill ${name}@far`);
    await far.answer(thread, /^⏹️ `shop-echo`: .*exited with code 7/);
    await vi.waitFor(() => expect(sessions(far.place)).not.toContain(name), WAIT);
  });

  it('attaches a flood of output, whole and in order', async () => {
    const { far, terminal } = await start();
    const { thread } = await terminal('i=0; while [ $i -lt 60000 ]; do i=$((i+1)); echo n$i; done');
    const end = await far.answer(thread, /^⏹️ Exited with code 0.*the whole output/s);
    const url = end.attachments?.[0]?.url ?? '';
    const whole = await (await fetch(url)).text();
    expect(numbers(whole)).toEqual(upTo(60_000));
  });

  it('continues when the host was unreachable, loses and repeats nothing, and does not report an end', async () => {
    const { far, channelId, terminal } = await start();
    const { thread } = await terminal(
      'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo n$i; sleep 0.1; done; while [ ! -e go ]; do sleep 0.1; done; exit 4',
    );
    await untilPrinted(far, thread, 'n5\n');
    const { port } = far.ssh;
    await far.ssh.stop();
    await vi.waitFor(() => expect(far.shared.remote.state('far').kind).toBe('unreachable'), WAIT);
    await far.say(channelId, '!status');
    await far.answer(channelId, /`shop-i-0` .*host unreachable/);
    await far.say(thread, '!done');
    await far.answer(thread, /⚠️/);
    await aWhile(4000);
    expect((await far.answers(thread)).some(({ content }) => content.startsWith('⏹️'))).toBe(false);
    writeFileSync(join(far.ssh.home, 'code', 'shop', 'go'), '');
    await far.ssh.start(port);
    await vi.waitFor(() => far.answer(thread, /^⏹️ Exited with code 4/), WAIT);
    expect(numbers(await printed(far, thread))).toEqual(upTo(60));
  });

  it('is resumed after a restart of the bridge, and after its end', async () => {
    const { far, terminal } = await start();
    const { thread } = await terminal(
      'i=0; while [ $i -lt 50 ]; do i=$((i+1)); echo n$i; sleep 0.1; done; read x; echo "x is $x"; exit 2',
    );
    await untilPrinted(far, thread, 'n5\n');
    await far.restart();
    await untilPrinted(far, thread, 'n20\n');
    await far.stop();
    await aWhile(1500);
    await far.restart();
    await untilPrinted(far, thread, 'n50\n');
    expect(numbers(await printed(far, thread))).toEqual(upTo(50));
    await far.untilMarked(await far.say(thread, 'seven'), '✅');
    await far.answer(thread, /^⏹️ Exited with code 2/);
    expect(await printed(far, thread)).toContain('x is seven');
    await far.restart();
    await far.say(thread, '!done');
    await far.answer(thread, /^⏹️ `shop-i-0`: /);
    expect((await far.answers(thread)).filter(({ content }) => content.startsWith('⏹️ Exited'))).toHaveLength(1);
  });

  it('says so if the whole tmux server is gone', async () => {
    const { far, terminal } = await start();
    const { thread } = await terminal('echo up; cat');
    await untilPrinted(far, thread, 'up');
    far.place.tmux.call('kill-server');
    await far.answer(thread, /^⏹️ Over: its session is gone/);
  });

  it('is refused outside the roots of that host, and its directories are suggested', async () => {
    const { far, channelId } = await start();
    const refusals: readonly (readonly [string, RegExp])[] = [
      ['far:out', /leads out/],
      ['far:../secret', /contains "\.\."/],
      ['far:~/secret', /`far:~\/secret` .*it is outside/],
      ['far:/etc', /`far:\/etc` .*it is outside/],
      ['far:nothing', /no directory `far:nothing`.*`far:shop`/s],
    ];
    for (const [dir, words] of refusals) {
      await far.say(channelId, `!terminal ${dir} id`);
      await far.answer(channelId, words);
    }
    expect(sessions(far.place)).toEqual([]);
    const suggested = await openSuggestions(far);
    expect(await suggested('terminal', 'dir', 'fa')).toEqual(['far:']);
    expect(await suggested('terminal', 'dir', 'far:sh')).toEqual(['far:shop']);
  });

  it('needs roots on that host, and accepts an absolute path inside them', async () => {
    const { far, channelId } = await start({ roots: [] });
    await far.say(channelId, '!terminal far:shop id');
    await far.answer(channelId, /no directory is allowed.*"roots"/s);
    const other = await start();
    const { thread } = await other.terminal('pwd', 'far:~/code/api');
    await untilPrinted(other.far, thread, join(other.far.ssh.home, 'code', 'api'));
  });

  it('holds up no terminal elsewhere if the host does not answer, and both get names of their own', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'shop'));
    const hold = join(folder, 'hold');
    const tmux = join(folder, 'tmux');
    const script = `while [ -e ${hold} ]; do : > ${hold}-waits; sleep 0.1; done; exec tmux "$@"`;
    writeFileSync(tmux, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const { far, channelId } = await start({ file: { roots: [folder] }, tmux });
    writeFileSync(hold, '');
    await far.say(channelId, '!terminal far:shop cat');
    await vi.waitFor(() => expect(existsSync(`${hold}-waits`)).toBe(true), WAIT);
    await far.say(channelId, '!terminal shop cat');
    await far.answer(channelId, /^🖥️ `shop-cat` is up/);
    rmSync(hold);
    await far.answer(channelId, /^🖥️ `shop-cat-2` is up/);
  });
});
