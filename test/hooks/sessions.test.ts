import { describe, expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import { openTestCourier } from '../support/courier-setup.ts';
import {
  fixture,
  type Machine,
  messagesIn,
  type PaneEnv,
  saidIn,
  soon,
  startMachine,
  stopInput,
  threadsOf,
  untilSaid,
} from '../support/hook-process.ts';
import { startTmux } from '../support/tmux-server.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const MINUTES_AGO = 300_000;

async function start() {
  const workspace = await startTestWorkspace();
  const machine = startMachine(workspace);
  return { workspace, machine, ...openTestCourier(machine) };
}

describe('for a letter from a pane,', () => {
  it('a session that is renamed keeps its thread, which is renamed too', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, stopInput('one'));
    machine.tmux.call('rename-session', '-t', '=web', 'shop');
    // The next courier, or the same one some seconds later.
    const later = openTestCourier(machine);
    await later.deliver(pane, stopInput('two'));
    await soon(async () => expect((await threadsOf(workspace)).map(({ name }) => name)).toEqual(['[agent] shop']));
    expect(await saidIn(workspace, '[agent] shop')).toEqual(['one', 'two']);
  });

  it('a rename that Discord refused is repeated by the next courier', async () => {
    let renames = 0;
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method, path }) =>
          method === 'PATCH' && /^\/channels\/\d+$/.test(path) && renames++ === 0
            ? { kind: 'answer', status: 403, body: { code: 50013, message: 'no' } }
            : undefined,
      },
    });
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    await openTestCourier(machine).deliver(pane, stopInput('one'));
    machine.tmux.call('rename-session', '-t', '=web', 'shop');
    await openTestCourier(machine).deliver(pane, stopInput('two'));
    await soon(() => expect(renames).toBe(1));
    await openTestCourier(machine).deliver(pane, stopInput('three'));
    await soon(async () => expect((await threadsOf(workspace)).map(({ name }) => name)).toEqual(['[agent] shop']));
    expect(await saidIn(workspace, '[agent] shop')).toEqual(['one', 'two', 'three']);
  });

  it.each([
    ['the word of its end', () => ({ ...fixture('SessionEnd'), session_id: fixture('Stop').session_id })],
    ['a reply that was read late', () => stopInput('bye')],
  ])('the shell that Claude exited to is not mistaken for Claude: %s', async (_, input) => {
    const { machine, deliver } = await start();
    const pane = machine.session('web');
    const running = (command: string) =>
      soon(async () =>
        expect(machine.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_command}')).toContain(command),
      );
    machine.tmux.call('respawn-pane', '-k', '-t', '=web:', 'sh');
    machine.tmux.call('send-keys', '-t', '=web:', 'sleep 1000', 'Enter');
    await running('sleep');
    await deliver(pane, stopInput('one'));
    machine.tmux.call('send-keys', '-t', '=web:', 'C-c');
    await running('sh');
    await openTestCourier(machine).deliver(pane, input());
    expect(loadThreadRecords(machine.home).map(({ command }) => command)).toEqual(['sleep']);
  });

  it('grouped sessions share one thread, whichever of them is the newest', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, stopInput('alone'));
    machine.tmux.call('new-session', '-d', '-t', '=web', '-s', 'second');
    const later = openTestCourier(machine);
    await later.deliver(pane, stopInput('in a group'));
    machine.tmux.call('new-session', '-d', '-t', '=web', '-s', 'third');
    await openTestCourier(machine).deliver(pane, stopInput('in a larger group'));
    expect(await saidIn(workspace, '[agent] web')).toEqual(['alone', 'in a group', 'in a larger group']);
    expect(await threadsOf(workspace)).toHaveLength(1);
  });

  it('two panes of a session have one thread, and their replies do not mix', async () => {
    const { workspace, machine, deliver } = await start();
    const left = machine.session('web');
    machine.tmux.call('split-window', '-d', '-t', '=web:', 'cat');
    const right = machine.paneEnv('=web:.1');
    expect(right.TMUX_PANE).not.toBe(left.TMUX_PANE);
    const long = (mark: string) => `${mark} `.repeat(1_500);
    await Promise.all([
      deliver(left, stopInput(long('L'))),
      deliver(right, stopInput(long('R'))),
      deliver(left, stopInput('left')),
      deliver(right, stopInput('right')),
    ]);
    const said = (await saidIn(workspace, '[agent] web')).map((text) => text[0]).join('');
    expect(said).toMatch(/^(?=.*LL)(?=.*RR)[LRlr]{6}$/);
    expect(await threadsOf(workspace)).toHaveLength(1);
  });

  it('two panes that say the same after an outage are both posted', async () => {
    const { workspace, machine, deliver } = await start();
    const left = machine.session('web');
    machine.tmux.call('split-window', '-d', '-t', '=web:', 'cat');
    const right = machine.paneEnv('=web:.1');
    const writtenAt = Date.now() - MINUTES_AGO;
    await deliver(left, stopInput('Done.'), { writtenAt });
    await deliver(right, stopInput('Done.'), { writtenAt });
    await deliver(left, stopInput('Done.'), { writtenAt });
    expect(await saidIn(workspace, '[agent] web')).toEqual(['Done.', 'Done.', 'Done.']);
  });

  it('a reply of one pane is recognised even if the other pane has posted since', async () => {
    let isLost = false;
    const workspace = await startTestWorkspace({
      nonceWindowMs: 1,
      faults: {
        onRequest: ({ method }) =>
          isLost && method === 'POST' ? { kind: 'apply-then-answer', status: 403 } : undefined,
      },
    });
    const machine = startMachine(workspace);
    const { deliver } = openTestCourier(machine);
    const left = machine.session('web');
    machine.tmux.call('split-window', '-d', '-t', '=web:', 'cat');
    const right = machine.paneEnv('=web:.1');
    await deliver(left, stopInput('hello'));
    const letter = { salt: 'the same letter', writtenAt: Date.now() - MINUTES_AGO };
    isLost = true;
    await expect(deliver(left, stopInput('posted, but the answer was lost'), letter)).rejects.toThrow();
    isLost = false;
    await deliver(right, stopInput('meanwhile'));
    await deliver(left, stopInput('posted, but the answer was lost'), letter);
    expect(await saidIn(workspace, '[agent] web')).toEqual(['hello', 'posted, but the answer was lost', 'meanwhile']);
  });

  it('the last reply of a pane that is gone reaches its thread', async () => {
    const { workspace, machine, deliver } = await start();
    machine.session('other');
    const pane = machine.session('web');
    await deliver(pane, stopInput('hello'));
    machine.tmux.call('kill-session', '-t', '=web');
    await openTestCourier(machine).deliver(pane, stopInput('bye'));
    expect(await saidIn(workspace, '[agent] web')).toEqual(['hello', 'bye']);
  });

  it('a pane that tmux does not know is retried, and given up after a while', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = { ...machine.session('web'), TMUX_PANE: '%77' };
    await expect(deliver(pane, stopInput('whose?'))).rejects.toThrow('%77');
    await deliver(pane, stopInput('whose?'), { writtenAt: Date.now() - MINUTES_AGO });
    expect(await threadsOf(workspace)).toEqual([]);
  });

  it('another tmux server on the same socket is not mistaken for the first', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    const old = { ...pane, TMUX: pane.TMUX.replace(/,\d+,/, ',1,') };
    await expect(deliver(old, stopInput('from the grave'))).rejects.toThrow();
    expect(await threadsOf(workspace)).toEqual([]);
  });

  it('nothing is posted after /clear and compaction, and the thread continues', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, stopInput('before'));
    await deliver(pane, { ...fixture('SessionEnd.clear'), reason: 'clear' });
    await deliver(pane, fixture('SessionStart.clear'));
    await deliver(pane, fixture('SessionStart.compact'));
    await deliver(pane, stopInput('after', { session_id: 'a-new-conversation' }));
    expect(await saidIn(workspace, '[agent] web')).toEqual(['before', 'after']);
    const [thread] = await threadsOf(workspace);
    expect(loadThreadRecords(machine.home).find((one) => one.thread === thread?.id)).toMatchObject({
      claudeSession: 'a-new-conversation',
      state: 'idle',
      paneId: pane.TMUX_PANE,
    });
  });

  it.each([
    ['a `claude -p` inside a session', { entrypoint: 'sdk-cli' }, {}],
    ['a subagent', {}, { agent_id: 'a1', agent_type: 'Explore' }],
  ])('%s posts nothing', async (_, facts, input) => {
    const { workspace, machine, deliver } = await start();
    await deliver(machine.session('web'), stopInput('nested', input), facts);
    expect(await threadsOf(workspace)).toEqual([]);
  });

  it('a Claude that was restarted in the same pane is reported at once with its new process', async () => {
    const { machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, fixture('SessionStart'));
    const before = loadThreadRecords(machine.home)[0]?.panePid;
    machine.tmux.call('respawn-pane', '-k', '-t', '=web:');
    await deliver(pane, { ...fixture('SessionStart'), source: 'resume' });
    const now = Number(machine.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_pid}'));
    expect(now).not.toBe(before);
    expect(loadThreadRecords(machine.home)[0]?.panePid).toBe(now);
  });

  it('a start and an end are one silent line each', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, fixture('SessionStart'));
    await deliver(pane, { ...fixture('SessionStart'), source: 'resume' });
    await deliver(pane, fixture('SessionEnd'));
    const messages = await messagesIn(workspace, '[agent] web');
    expect(messages.map(({ content }) => content)).toEqual([
      '▶️ Claude started.',
      '▶️ Claude resumed.',
      '⏹️ Claude has exited.',
    ]);
    expect(messages.every(({ flags }) => (flags & 4096) !== 0)).toBe(true);
  });

  it('an end that is reported several times is told once, and the next one again', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    const said = async () => (await messagesIn(workspace, '[agent] web')).map(({ content }) => content.slice(0, 2));
    await deliver(pane, fixture('SessionStart'));
    for (let times = 0; times < 3; times++) await deliver(pane, fixture('SessionEnd'));
    expect(await said()).toEqual(['▶️', '⏹️']);
    await deliver(pane, fixture('SessionStart'));
    await deliver(pane, fixture('SessionEnd'));
    expect(await said()).toEqual(['▶️', '⏹️', '▶️', '⏹️']);
  });
});

describe('the thread of a session', () => {
  it('is created again if it was deleted, and the bridge is told', async () => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, stopInput('one'));
    const [old] = await threadsOf(workspace);
    await workspace.bot('DELETE', `/channels/${old?.id}`);
    await workspace.bot('DELETE', `/channels/${workspace.channelId}/messages/${old?.id}`);
    await deliver(pane, stopInput('two'));
    const [made] = await threadsOf(workspace);
    expect(made?.id).not.toBe(old?.id);
    expect(loadThreadRecords(machine.home).find((one) => one.thread === made?.id)?.paneId).toBe(pane.TMUX_PANE);
    await deliver(pane, stopInput('three'));
    expect(await saidIn(workspace, '[agent] web')).toEqual(['two', 'three']);
  });

  it.each([
    ['archived', { archived: true }],
    ['archived and locked', { archived: true, locked: true }],
  ])('is reopened if it is %s', async (_, change) => {
    const { workspace, machine, deliver } = await start();
    const pane = machine.session('web');
    await deliver(pane, stopInput('one'));
    const [thread] = await threadsOf(workspace);
    await workspace.bot('PATCH', `/channels/${thread?.id}`, change);
    await deliver(pane, stopInput('two'));
    expect(await saidIn(workspace, '[agent] web')).toEqual(['one', 'two']);
    const now = await workspace.bot('GET', `/channels/${thread?.id}`);
    expect(now.body.thread_metadata.archived).toBe(false);
  });

  it('is found by its name after a restart of tmux, archived or not', async () => {
    const { workspace, machine, deliver } = await start();
    await deliver(machine.session('web'), stopInput('Done.'));
    const [thread] = await threadsOf(workspace);
    await workspace.bot('PATCH', `/channels/${thread?.id}`, { archived: true });
    // A new tmux server, and a delayed letter: its text was already posted by another session.
    const rebooted = startMachine(workspace);
    const pane = rebooted.session('web');
    const writtenAt = Date.now() - MINUTES_AGO;
    await openTestCourier(rebooted).deliver(pane, stopInput('Done.'), { writtenAt });
    expect(await saidIn(workspace, '[agent] web')).toEqual(['Done.', 'Done.']);
  });

  it('is never a look-alike that someone else made', async () => {
    const { workspace, machine, deliver } = await start();
    const bait = await workspace.person.say(workspace.channelId, 'come here');
    await workspace.person.startThread(workspace.channelId, bait.id, '[agent] web');
    await deliver(machine.session('web'), stopInput('secret'));
    const baited = await workspace.person.messages(bait.id);
    expect(baited.map(({ content }) => content)).not.toContainEqual(expect.stringContaining('secret'));
    expect(await threadsOf(workspace)).toHaveLength(2);
  });
});

describe('ten sessions that finish at the same moment', () => {
  const LIMITS = { rateLimits: { perBucket: 3, windowMs: 400, globalPerSecond: 20 } };

  /** Only the first hook of a machine starts a courier: that more do no harm is tested with the courier itself. */
  const report = (machine: Machine, isFirst: boolean, pane: PaneEnv, text: string) =>
    isFirst ? machine.drop(pane, stopInput(text)) : machine.write(pane, stopInput(text));

  it('on one host have ten threads and ten replies, and obey every rate limit', async () => {
    // On a busy machine we are slower than the limits: one request is refused in any case.
    let posts = 0;
    const onRequest = ({ method }: { method: string }) =>
      method === 'POST' && ++posts === 5
        ? { kind: 'limited' as const, retryAfterMs: 100, scope: 'user' as const }
        : undefined;
    const workspace = await startTestWorkspace({ ...LIMITS, faults: { onRequest } });
    const machine = startMachine(workspace);
    const names = Array.from({ length: 10 }, (_, n) => `s${n}`);
    const panes = names.map((name) => machine.session(name));
    for (const [n, pane] of panes.entries()) report(machine, n === 0, pane, `reply ${n}`);
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), 25_000);
    expect(await threadsOf(workspace)).toHaveLength(10);
    for (const [n, name] of names.entries()) await untilSaid(workspace, `[agent] ${name}`, [`reply ${n}`], 10_000);
    expect(machine.log()).toContain('rate limited');
  });

  it('from two homes have threads by host, and one thread where the name is the same', async () => {
    const workspace = await startTestWorkspace(LIMITS);
    const hosts = { laptop: 'local', mini: { ssh: 'mini' } };
    const config = { defaultHost: 'laptop', hosts };
    const here = startMachine(workspace, { host: 'laptop', config });
    const twin = startMachine(workspace, { host: 'laptop', config });
    const there = startMachine(workspace, {
      host: 'mini',
      config: { defaultHost: 'laptop', hosts: { laptop: { ssh: 'laptop' }, mini: 'local' } },
      tmux: startTmux(),
    });
    const names = ['web', 'shop', 'api', 'docs', 'ops'];
    const open = (machine: Machine, mark: string, some: readonly string[]) =>
      some.map((name) => ({ machine, pane: machine.session(name), text: `${name} ${mark}` }));
    const all = [...open(here, 'here', names), ...open(twin, 'twin', ['web', 'shop']), ...open(there, 'there', names)];
    for (const [n, { machine, pane, text }] of all.entries())
      report(machine, all.findIndex((one) => one.machine === machine) === n, pane, text);
    await vi.waitFor(() => expect(all.flatMap(({ machine }) => machine.letters())).toEqual([]), 25_000);
    const threads = (await threadsOf(workspace)).map(({ name }) => name);
    expect(threads.toSorted()).toEqual(names.flatMap((name) => [`[agent] ${name}`, `[agent] ${name}@mini`]).toSorted());
    for (const name of names) {
      const twins = name === 'web' || name === 'shop' ? [`${name} twin`] : [];
      const said = await saidIn(workspace, `[agent] ${name}`);
      expect(said.toSorted()).toEqual([`${name} here`, ...twins]);
      expect(await saidIn(workspace, `[agent] ${name}@mini`)).toEqual([`${name} there`]);
    }
  });
});
