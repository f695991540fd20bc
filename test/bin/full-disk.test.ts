// The program with its home on a disk that is full, read-only, or fills up while it runs. The disk is real and small.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { smallDisk } from '../support/disk.ts';
import { enter, startTestWorkspace, type WireMessage } from '../support/workspace.ts';
import { type Cli, PROGRAM, startCli, WAIT } from './cli.ts';

const FAKE = fileURLToPath(new URL('../support/headless-claude.mjs', import.meta.url));
const TRACE = /\n\s+at .*:\d+:\d+/;

function up(cli: Cli, home: string, args: readonly string[] = []) {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, 'up', ...args], {
    env: { ...cli.env, THREADMUX_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let failed = '';
  child.stdout?.on('data', (data) => (printed += data));
  child.stderr?.on('data', (data) => (failed += data));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, stdout: () => printed, stderr: () => failed };
}

const times = (text: string, part: string) => text.split(part).length - 1;

describe('up on a full disk', () => {
  it.each(['a new home', 'a home that is there'])('waits for space and continues by itself: %s', async (which) => {
    const cli = startCli();
    const disk = smallDisk();
    const home = join(disk.dir, 'home');
    if (which !== 'a new home') mkdirSync(join(home, 'state'), { recursive: true, mode: 0o700 });
    disk.fill();
    const bridge = up(cli, home, ['--port', '0']);
    const words = `The disk is full: ${home}. threadmux starts when there is space.`;
    await vi.waitFor(() => expect(bridge.stderr()).toContain(words), WAIT);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(bridge.child.exitCode).toBeNull();
    disk.free();
    await vi.waitFor(() => expect(bridge.stdout()).toMatch(/http:\S+\/enter\//), WAIT);
    expect(times(bridge.stderr(), words)).toBe(1);
    expect(bridge.stderr()).not.toMatch(TRACE);
    bridge.child.kill('SIGTERM');
    expect(await bridge.ended).toBe(0);
  });
});

describe('a read-only home', () => {
  it.each([['up'], ['workspace'], ['install', '--no-tmux'], ['auto', 'on']])(
    'is reported as read-only by %s',
    async (...args) => {
      const cli = startCli();
      const disk = smallDisk();
      mkdirSync(join(disk.dir, 'home', 'state'), { recursive: true, mode: 0o700 });
      disk.readOnly();
      const env = { THREADMUX_HOME: join(disk.dir, 'home') };
      const { status, stderr } = await cli.run(args, { env });
      expect(stderr).toMatch(/^threadmux: .*the disk is read-only\n.*THREADMUX_HOME/);
      expect(stderr).not.toMatch(/room/i);
      expect(stderr).not.toMatch(TRACE);
      expect(status).toBe(78);
    },
  );
});

describe('install on a full disk', () => {
  it.each(['home', 'settings'])('changes nothing and reports it in one sentence: %s', async (what) => {
    const cli = startCli();
    const disk = smallDisk();
    const settings = join(disk.dir, 'claude', 'settings.json');
    mkdirSync(join(disk.dir, 'claude'));
    writeFileSync(settings, '{}\n');
    disk.fill();
    const home = what === 'home' ? join(disk.dir, 'home') : cli.root;
    const env = { THREADMUX_HOME: home, CLAUDE_CONFIG_DIR: join(disk.dir, 'claude') };
    const { status, stderr } = await cli.run(['install', '--no-tmux'], { env });
    expect(stderr).toMatch(/^threadmux: .*the disk is full\nMake room/);
    expect(stderr).not.toMatch(TRACE);
    expect(status).toBe(1);
    expect(readFileSync(settings, 'utf8')).toBe('{}\n');
  });
});

describe('a disk that fills up while the bridge runs', () => {
  it('delays the output of a headless agent in a workspace on that disk, and loses none of it', async () => {
    const disk = smallDisk(8192);
    const home = join(disk.dir, 'home');
    mkdirSync(home, { mode: 0o700 });
    const cli = startCli();
    mkdirSync(join(cli.dir, 'work', 'shop'), { recursive: true });
    const config = {
      roots: [join(cli.dir, 'work')],
      agents: { claude: { command: ['env', `CLAUDE_FAKE_LOG=${join(cli.dir, 'log')}`, process.execPath, FAKE] } },
    };
    writeFileSync(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const bridge = up(cli, home, ['--port', '0']);
    const [link] = await vi.waitFor(() => {
      const found = /http:\S+\/enter\/\S+/.exec(bridge.stdout());
      if (found === null) throw new Error(bridge.stderr());
      return found;
    }, WAIT);
    const person = await enter(link);
    const { channel } = JSON.parse(readFileSync(join(home, 'state', 'workspace.json'), 'utf8'));
    const said = async (id: string) => (await person.messages(id)).map(({ content }) => content).join('\n\n');
    const steps = JSON.stringify([{ say: 'I begin.' }, { waitMs: 2_000 }, { say: 'I end.' }]);
    await person.say(channel, `!agent shop ${steps}`);
    const agent = await vi.waitFor(async () => {
      const [, id] = /`shop-agent` is at work.*<#(\d+)>/.exec(await said(channel)) ?? [];
      if (id === undefined) throw new Error(await said(channel));
      return id;
    }, WAIT);
    await vi.waitFor(async () => expect(await said(agent)).toContain('I begin.'), WAIT);
    disk.fill();
    await vi.waitFor(() => expect(bridge.stderr()).toContain('The disk is full'), WAIT);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(bridge.child.exitCode).toBeNull();
    disk.free();
    const late = { timeout: 60_000, interval: 200 };
    await vi.waitFor(async () => expect(await said(agent)).toMatch(/✅ 2 turns/), late);
    for (const text of ['I begin.', 'I end.']) expect(times(await said(agent), text)).toBe(1);
    expect(bridge.stderr()).not.toMatch(TRACE);
  }, 120_000);

  it('stops neither the bridge nor its headless agent, and loses or repeats nothing', async () => {
    const workspace = await startTestWorkspace();
    const { person, api, token, channelId, userId, botId } = workspace;
    const disk = smallDisk(8192);
    const home = join(disk.dir, 'home');
    mkdirSync(home, { mode: 0o700 });
    const cli = startCli();
    const work = join(cli.dir, 'work', 'shop');
    mkdirSync(work, { recursive: true });
    const fakeLog = join(cli.dir, 'fake-log');
    const config = {
      servers: [{ name: 'test', token, channel: channelId, allow: [userId], api }],
      roots: [join(cli.dir, 'work')],
      agents: { claude: { command: ['env', `CLAUDE_FAKE_LOG=${fakeLog}`, process.execPath, FAKE] } },
    };
    writeFileSync(join(home, 'config.json'), JSON.stringify(config), { mode: 0o600 });
    const bridge = up(cli, home);
    const said = async (channel: string): Promise<readonly string[]> =>
      (await person.messages(channel))
        .filter(({ author }) => author.id === botId)
        .map(({ content }) => content)
        .toReversed();
    const answer = (channel: string, fits: RegExp) =>
      vi.waitFor(async () => {
        const all = await said(channel);
        expect(all.join('\n\n')).toMatch(fits);
        return fits.exec(all.join('\n\n')) as RegExpExecArray;
      }, WAIT);
    await vi.waitFor(() => expect(bridge.stdout()).toContain('threadmux is running'), WAIT);

    const steps = JSON.stringify([{ say: 'I begin.' }, { waitMs: 3_000 }, { say: 'I end.' }]);
    await person.say(channelId, `!agent shop ${steps}`);
    const [, agent = ''] = await answer(channelId, /`shop-agent` is at work.*<#(\d+)>/);
    await answer(agent, /I begin\./);
    await person.say(channelId, '!terminal shop for i in $(seq 1 30); do echo line $i; sleep 0.2; done; cat');
    const [, terminal = ''] = await answer(channelId, /is up: <#(\d+)>/);
    await answer(terminal, /line 2/);

    disk.fill();
    const inThread = await person.say(agent, 'second');
    const third = await person.say(agent, 'third');
    const typed = await person.say(terminal, 'to the terminal');
    await vi.waitFor(() => expect(bridge.stderr()).toMatch(/The disk is full/), WAIT);
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(bridge.child.exitCode).toBeNull();
    expect(bridge.stderr()).not.toMatch(TRACE);
    expect(times(bridge.stderr(), 'The disk is full')).toBe(1);
    disk.free();

    const marked = async ({ id, channel_id }: WireMessage) => {
      const { body } = await person.call('GET', `/channels/${channel_id}/messages/${id}`);
      return (body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [];
    };
    const late = { timeout: 60_000, interval: 200 };
    await vi.waitFor(async () => {
      for (const message of [inThread, third]) expect(await marked(message)).toEqual(['✅']);
      expect((await marked(typed)).length).toBeGreaterThan(0);
    }, late);
    const all = (await said(agent)).join('\n\n');
    for (const text of ['I begin.', 'I end.', 'Echo: second', 'Echo: third']) expect(times(all, text), text).toBe(1);
    expect(readFileSync(fakeLog, 'utf8').trim().split('\n')).toHaveLength(3);
    await vi.waitFor(async () => {
      const shown = (await said(terminal)).join('\n');
      for (let n = 1; n <= 30; n++) expect(shown.match(new RegExp(`^line ${n}$`, 'gm')), `line ${n}`).toHaveLength(1);
      expect(shown).toContain('to the terminal');
    }, late);
    await vi.waitFor(() => expect(readdirSync(join(home, 'inbox'))).toEqual([]), late);
    await vi.waitFor(() => expect(bridge.stderr()).toMatch(/There is room again/), WAIT);
    bridge.child.kill('SIGTERM');
    expect(await bridge.ended).toBe(0);
  }, 180_000);
});
