// A separate courier posts while the bridge is down and hands over when it starts; no reply is lost or repeated.

import { spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import { type Machine, startMachine, stopInput, untilSaid } from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { PROGRAM, WAIT } from './cli.ts';

const WEB = '[agent] web';

async function start() {
  const slow = { ms: 0, begun: 0 };
  const workspace = await startTestWorkspace({
    faults: {
      onRequest({ method, path }) {
        if (slow.ms === 0 || method !== 'POST' || !path.endsWith('/messages')) return undefined;
        slow.begun++;
        return { kind: 'delay', ms: slow.ms };
      },
    },
  });
  const { api, token, channelId: channel, userId } = workspace;
  const servers = [{ api, token, channel, allow: [userId] }];
  const machine = startMachine(undefined, { config: { servers } });
  const env = { ...machine.env, THREADMUX_TMUX_SOCKET: machine.tmux.socket };
  return { workspace, machine, slow, env };
}

/** The real program, running and connected. */
async function up({ home }: Machine, env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [PROGRAM, 'up'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (data) => {
    said += data;
  });
  await vi.waitFor(() => expect(said).toContain('threadmux is running'), WAIT);
  return { child, pid: () => holderOf(home.path('state', 'bridge.lock')) };
}

describe('a separate courier', () => {
  it.each(['hands over', 'is killed'])('that %s in the middle of a letter loses and repeats nothing', async (how) => {
    const { workspace, machine, slow, env } = await start();
    const pane = machine.session('web');
    machine.write(pane, stopInput('one'));
    const courier = machine.courier();
    await untilSaid(workspace, WEB, ['one']);
    slow.ms = 1_500;
    for (const text of ['two', 'three', 'four']) machine.write(pane, stopInput(text));
    await vi.waitFor(() => expect(slow.begun).toBeGreaterThan(0), WAIT);
    if (how === 'is killed') await courier.kill();
    const bridge = await up(machine, env);
    slow.ms = 0;
    await courier.ended;
    expect(courier.child.signalCode).toBe(how === 'is killed' ? 'SIGKILL' : null);
    expect(machine.courierPid()).toBe(bridge.pid());
    machine.drop(pane, stopInput('five'));
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), WAIT);
    await untilSaid(workspace, WEB, ['one', 'two', 'three', 'four', 'five']);
  });

  it('posts again when the bridge has stopped, and starts by itself', async () => {
    const { workspace, machine, env } = await start();
    const pane = machine.session('web');
    const bridge = await up(machine, env);
    machine.drop(pane, stopInput('one'));
    await untilSaid(workspace, WEB, ['one']);
    bridge.child.kill('SIGTERM');
    await vi.waitFor(() => expect(bridge.child.exitCode).toBe(0), WAIT);
    machine.drop(pane, stopInput('two'));
    await untilSaid(workspace, WEB, ['one', 'two']);
    expect(machine.courierPid()).not.toBe(bridge.child.pid);
  });
});
