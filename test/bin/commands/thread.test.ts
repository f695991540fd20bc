// threadmux thread open and close affect the thread of a session, and never the session itself.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../../home/lock.ts';
import { processesWith, threadNames } from '../../support/hook-process.ts';
import { startTestWorkspace } from '../../support/workspace.ts';
import { PROGRAM, startCli, WAIT } from '../cli.ts';

async function start(more: { readonly api?: string; readonly onlyProjects?: boolean } = {}) {
  const workspace = await startTestWorkspace();
  const { api, token, channelId: channel, userId } = workspace;
  const cli = startCli({ servers: [{ api, token, channel, allow: [userId], ...more }] });
  const lock = join(cli.root, 'state', 'courier.lock');
  onTestFinished(() =>
    vi.waitFor(() => {
      const left = [...processesWith(`HOME=${cli.dir}`), holderOf(lock) ?? 0].filter(
        (pid) => pid > 0 && readsAs(pid).includes('courier.js'),
      );
      for (const pid of left) spawnSync('kill', ['-9', String(pid)]);
      expect(left).toEqual([]);
    }, WAIT),
  );
  cli.tmux.call('new-session', '-d', '-s', 'web', '-c', cli.dir, 'cat');
  return { workspace, cli, run: cli.run };
}

function readsAs(pid: number): string {
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
}

describe('threadmux thread', () => {
  it('opens, archives and reopens the thread of a session, which keeps running, and says which does not exist', async () => {
    const { workspace, cli, run } = await start();
    const none = await run(['thread', 'close', 'web', '--json']);
    expect([none.status, none.error().code]).toEqual([3, 'not_found']);
    expect(none.error().message).toBe('web on here has no thread');
    const nobody = await cli.runHere(['thread', 'open', 'nobody', '--json']);
    expect([nobody.status, nobody.error().code]).toEqual([3, 'session_not_found']);
    const opened = await run(['thread', 'open', 'web', '--json']);
    expect(opened.data()).toEqual({
      host: 'here',
      name: 'web',
      outcome: 'opened',
      thread: expect.stringMatching(/^\d+$/),
    });
    expect(await threadNames(workspace)).toEqual(['[agent] web']);
    const closed = await run(['thread', 'close', 'web']);
    expect([closed.status, closed.stdout]).toEqual([0, '']);
    expect(closed.stderr).toBe(
      'The thread of web on here is archived. It opens again when the session reports something or you write in it.\n',
    );
    expect(await threadNames(workspace)).toEqual(['([agent] web)']);
    const again = await run(['thread', 'open', 'web', '--json']);
    expect(again.data()).toEqual(opened.data());
    expect(await threadNames(workspace)).toEqual(['[agent] web']);
    expect(cli.tmux.call('list-sessions', '-F', '#S')).toBe('web');
    expect(readdirSync(join(cli.root, 'answers'))).toEqual([]);
  });

  it('is carried out by a running bridge, and a thread that it archived stays so while other sessions come and go', async () => {
    const { workspace, cli, run } = await start();
    const bridge = spawn(process.execPath, [PROGRAM, 'up'], { env: cli.env, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(bridge, 'exit');
    onTestFinished(async () => {
      bridge.kill('SIGKILL');
      await ended;
    });
    await once(bridge.stdout, 'data');
    const auto = await run(['auto', 'on']);
    expect(auto.status).toBe(0);
    expect((await run(['thread', 'open', 'web', '--json'])).data()).toMatchObject({ outcome: 'opened' });
    expect((await run(['thread', 'close', 'web'])).status).toBe(0);
    expect(holderOf(join(cli.root, 'state', 'courier.lock'))).toBe(holderOf(join(cli.root, 'state', 'bridge.lock')));
    for (const name of ['other', 'third']) {
      cli.tmux.call('new-session', '-d', '-s', name, '-c', cli.dir, 'cat');
      writeFileSync(join(cli.root, 'state', 'tmux-events', name), '');
      await vi.waitFor(async () => expect(await threadNames(workspace)).toContain(`[agent] ${name}`), WAIT);
    }
    cli.tmux.call('kill-session', '-t', '=other');
    writeFileSync(join(cli.root, 'state', 'tmux-events', 'other'), '');
    await vi.waitFor(
      async () => expect(await threadNames(workspace)).toEqual(['([agent] other)', '([agent] web)', '[agent] third']),
      WAIT,
    );
  });

  it('opens none for a session that belongs nowhere', async () => {
    const { workspace, run } = await start({ onlyProjects: true });
    const nowhere = await run(['thread', 'open', 'web', '--json']);
    expect([nowhere.status, nowhere.error().code]).toEqual([3, 'not_found']);
    expect(await threadNames(workspace)).toEqual([]);
  });

  it('says that it waits while the server is unreachable', async () => {
    const { run } = await start({ api: 'http://127.0.0.1:1/api/v10' });
    const waits = await run(['thread', 'open', 'web', '--wait', '1', '--json']);
    expect([waits.status, waits.error().code]).toEqual([69, 'discord_unreachable']);
  });

  it('has help with an example, and completions that offer sessions', async () => {
    const { runHere } = startCli();
    expect((await runHere(['thread', 'close', '--help'])).stdout).toContain('threadmux thread close shop');
    expect((await runHere(['completions', 'bash'])).stdout).toMatch(/case \$at in .*'thread close'.*\)\n {4}if/);
  });
});
