import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Cli, PROGRAM, startCli, WAIT } from './cli.ts';

function start(cli: Cli, args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: cli.dir,
    env: cli.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const stop = async () => {
    if (child.exitCode !== null || !child.kill('SIGTERM')) return child.exitCode;
    return (await once(child, 'exit'))[0];
  };
  onTestFinished(async () => void (await stop()));
  return { stop, pid: child.pid, stdout: () => stdout, stderr: () => stderr };
}

describe('status', () => {
  it('says whether threadmux is running and connected, and what is waiting', async () => {
    const cli = startCli();
    expect((await cli.run(['status', '--json'])).data()).toMatchObject({
      running: false,
      pid: null,
      gateway: null,
      servers: [],
      outbox: { waiting: 0, aside: 0 },
      openPrompts: 0,
      hosts: [{ host: 'here', answers: true, sessions: 0, error: null }],
    });
    const up = start(cli, ['up', '--port', '0', '--listen', '0.0.0.0']);
    const link = /http:\/\/127\.0\.0\.1:\d+\/\S{16,}/;
    await vi.waitFor(() => expect(up.stdout()).toMatch(link), WAIT);
    expect(up.stdout()).toContain('threadmux is running');
    expect(up.stderr()).toContain('other machines can connect to the workspace');
    await vi.waitFor(
      async () =>
        expect((await cli.run(['status', '--json'])).data()).toMatchObject({
          running: true,
          pid: up.pid,
          gateway: 'live',
          servers: [{ name: 'local' }],
        }),
      WAIT,
    );
    const origin = up.stdout().match(/http:\/\/[\d.:]+\//)?.[0] ?? 'no link';
    expect(await cli.run(['link'])).toMatchObject({ stdout: expect.stringContaining(`${origin}#/enter/`), stderr: '' });
    expect((await cli.run(['status'])).stdout).toContain('; connected.');
    const second = await cli.run(['up', '--port', '0']);
    expect(second).toMatchObject({ status: 1, stderr: expect.stringContaining('already running') });
    expect(await up.stop()).toBe(0);
    expect((await cli.run(['status'])).stdout).toContain('threadmux is not running');
  });
});

it('a link at which no browser can sign in is printed with what to do', async () => {
  const cli = startCli();
  const up = start(cli, ['up', '--port', '0', '--listen', '0']); // every address, in a form that no browser sends
  await vi.waitFor(() => expect(up.stdout()).toMatch(/http:\/\/0:\d+\/#\/enter/), WAIT);
  await vi.waitFor(() => expect(up.stderr()).toContain('No browser can sign in at this address'), WAIT);
  const link = await cli.run(['link']);
  expect(link.stdout).toMatch(/^http:\/\/0:\d+\/#\/enter\/\S+\n$/);
  expect(link.stderr).toContain('`--port 7420`');
});

describe('logs', () => {
  const line = (n: number) => `2026-01-02T03:04:05.000Z up info event n=${n}`;

  it('prints the last lines, including those from before a rotation, and follows the log', async () => {
    const cli = startCli();
    const log = join(cli.root, 'log', 'threadmux.log');
    mkdirSync(join(cli.root, 'log'), { recursive: true, mode: 0o700 });
    writeFileSync(`${log}.1`, `${line(1)}\n${line(2)}\n`);
    writeFileSync(log, `${line(3)}\n`);
    expect((await cli.run(['logs', '-n', '2'])).stdout).toBe(`${line(2)}\n${line(3)}\n`);
    const json = (await cli.run(['logs', '-n', '1', '--json'])).data();
    expect(json).toEqual({ at: '2026-01-02T03:04:05.000Z', who: 'up', level: 'info', text: 'event n=3' });
    const following = start(cli, ['logs', '-f', '-n', '1']);
    await vi.waitFor(() => expect(following.stdout()).toBe(`${line(3)}\n`), WAIT);
    appendFileSync(log, `${line(4)}\n`);
    await vi.waitFor(() => expect(following.stdout()).toContain('n=4'), WAIT);
    appendFileSync(log, `${line(5)}\n`);
    renameSync(log, `${log}.1`);
    writeFileSync(log, `${line(6)}\n`);
    await vi.waitFor(() => expect(following.stdout()).toBe(`${[3, 4, 5, 6].map(line).join('\n')}\n`), WAIT);
  });
});

describe('outbox', () => {
  const input = readFileSync('test/fixtures/claude/hooks/Stop.json', 'utf8');
  const letter = `threadmux 2\ntmux /tmp/none,1,0\npane %0\nentrypoint cli\nproject /shop\n\n${input}\n`;

  it('lists and shows waiting and set-aside letters, and returns a set-aside one to its pane', async () => {
    const cli = startCli();
    const outbox = join(cli.root, 'outbox');
    for (const folder of ['77.3', 'aside']) mkdirSync(join(outbox, folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(outbox, '77.3', '100000002.9'), letter);
    writeFileSync(join(outbox, 'aside', '1760000000000-77.3-100000001.8'), letter);
    writeFileSync(join(outbox, 'aside', 'notes.txt'), 'not ours');
    expect((await cli.run(['outbox', '--json'])).data()).toMatchObject({
      letters: [
        { id: '77.3-100000002.9', state: 'waiting', event: 'idle' },
        { id: '1760000000000-77.3-100000001.8', state: 'aside', event: 'idle' },
      ],
    });
    expect((await cli.run(['outbox', 'show', '77.3-100000002.9'])).stdout).toContain('"Stop"');
    const aside = '1760000000000-77.3-100000001.8';
    expect((await cli.run(['outbox', 'retry', aside, '--json'])).data()).toEqual({ putBack: [aside], waiting: 1 });
    expect(readdirSync(join(outbox, 'aside'))).toEqual(['notes.txt']);
    // A courier may have taken them already; one that is still there has its old place.
    const left = existsSync(join(outbox, '77.3')) ? readdirSync(join(outbox, '77.3')) : [];
    expect(left.filter((name) => !name.startsWith('.')).toSorted()[0] ?? '100000001').toMatch(/^10000000[12]/);
  });
});

describe('auto', () => {
  it('is stored where the bridge reads it', async () => {
    const cli = startCli();
    expect((await cli.run(['auto', 'on'])).stdout).toBe('on\n');
    expect(JSON.parse(readFileSync(join(cli.root, 'state', 'auto.json'), 'utf8'))).toEqual({ on: true });
    expect((await cli.run(['auto', 'off', '--json'])).data()).toEqual({ on: false });
    expect((await cli.run(['auto', '--json'])).data()).toEqual({ on: false });
  });
});
