import { spawn, spawnSync } from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { holderOf } from '../../home/lock.ts';
import { takeCourierLock } from '../../hooks/courier-lock.ts';
import { runCourier } from '../../hooks/courier-loop.ts';
import type { Letter } from '../../hooks/letter.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import {
  COURIER,
  DROP,
  type Machine,
  type PaneEnv,
  processesWith,
  saidIn,
  soon,
  startMachine,
  stopInput,
  untilSaid,
} from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const DIST = dirname(dirname(COURIER));
const PANE: PaneEnv = { TMUX: '/run/tmux/default,4242,0', TMUX_PANE: '%7' };

/** A courier in this process, whose deliveries the test sees. */
function inProcess({ home }: Pick<Machine, 'home'>, deliver: (letter: Letter) => Promise<void>, lingerMs = 60_000) {
  const stop = new AbortController();
  const work = async () => {
    const release = await takeCourierLock({ home, log: silentLog, beatMs: 50 });
    if (release === undefined) return false;
    const options = { arrived: () => {}, deliver, lingerMs, signal: stop.signal, beatMs: 50 };
    await runCourier({ home, log: silentLog, ...options }).finally(release);
    return true;
  };
  const done = work();
  onTestFinished(async () => {
    stop.abort();
    await done;
  });
  return { done, stop: () => stop.abort() };
}

/** A process that never finishes handling a letter. */
function dyingCourier(machine: Machine) {
  const script = `import { runCourier } from '${join(DIST, 'hooks/courier-loop.js')}';
import { openHome } from '${join(DIST, 'home/home.js')}';
import { silentLog } from '${join(DIST, 'core/log.js')}';
await runCourier({
  home: openHome(${JSON.stringify(machine.home.root)}),
  log: silentLog,
  arrived: () => {},
  deliver: async () => process.kill(process.pid, 'SIGKILL'),
  lingerMs: 60_000,
  signal: new AbortController().signal,
});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
  return { child, ended: new Promise<void>((resolve) => child.once('exit', () => resolve())) };
}

/** A letter that was being processed when an earlier courier was killed. */
function startWithSuspect(text: string) {
  const machine = startMachine();
  const begun = join(machine.home.folder('outbox'), 'begun');
  mkdirSync(begun);
  machine.write(PANE, stopInput(text));
  const [letter = ''] = machine.letters();
  const note = join(begun, letter.split('/').slice(-2).join('-'));
  writeFileSync(note, '1\n');
  return { machine, begun, note };
}

const textOf = (letter: Letter) => (letter.event.event === 'idle' ? letter.event.text : undefined);

describe('the courier', () => {
  it('runs once per home, however many are started at once', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    machine.write(machine.session('web'), stopInput('hello'));
    const started = Array.from({ length: 5 }, () => machine.courier());
    await untilSaid(workspace, '[agent] web', ['hello']);
    await vi.waitFor(() => {
      const left = started.filter(({ child }) => child.exitCode === null);
      expect(left.map(({ pid }) => pid)).toEqual([machine.courierPid()]);
    }, 20_000);
    expect(started.filter(({ child }) => child.exitCode !== null && child.exitCode !== 0)).toEqual([]);
  });

  it('survives the end of the session and of the process group that started it', async () => {
    let requests = 0;
    const workspace = await startTestWorkspace({
      faults: { onRequest: () => (requests++ === 0 ? { kind: 'delay', ms: 500 } : undefined) },
    });
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    machine.session('other');
    // Like Claude Code: the leader of a process group that is killed as a whole.
    const claude = spawn('sh', ['-c', '"$0"; sleep 60', DROP], {
      env: { ...machine.env, ...pane },
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    claude.stdin.end(JSON.stringify(stopInput('last words')));
    await vi.waitFor(() => expect(requests).toBeGreaterThan(0), 20_000);
    process.kill(-(claude.pid ?? 0), 'SIGKILL');
    machine.tmux.call('kill-session', '-t', '=web:');
    await untilSaid(workspace, '[agent] web', ['last words']);
  });

  it('exits after it was idle for a while, and releases its lock', async () => {
    const machine = startMachine();
    const { done } = inProcess(machine, async () => {}, 100);
    expect(await done).toBe(true);
    expect(holderOf(machine.home.path('state', 'courier.lock'))).toBeUndefined();
    expect(existsSync(machine.home.path('state', 'courier.pid'))).toBe(false);
  });

  it('replaces one that was killed', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const first = machine.courier();
    await vi.waitFor(() => expect(machine.courierPid()).toBe(first.pid), 20_000);
    await first.kill();
    expect(existsSync(machine.home.path('state', 'courier.lock'))).toBe(true);
    machine.drop(machine.session('web'), stopInput('hello'));
    await untilSaid(workspace, '[agent] web', ['hello']);
  });

  it('replaces one that hangs, and delivers its letters', async () => {
    const machine = startMachine();
    const hung = machine.courier();
    await vi.waitFor(() => expect(machine.courierPid()).toBe(hung.pid), 20_000);
    // The lock comes first, then the heartbeat.
    await vi.waitFor(() => statSync(machine.home.path('state', 'courier.pid')), 20_000);
    hung.child.kill('SIGSTOP');
    machine.write(PANE, stopInput('one'));
    const then = new Date(Date.now() - 5_000);
    utimesSync(machine.home.path('state', 'courier.pid'), then, then);
    const got: (string | undefined)[] = [];
    inProcess(machine, async (letter) => void got.push(textOf(letter)));
    await vi.waitFor(() => expect(got).toEqual(['one']), 20_000);
    await hung.ended;
    expect(hung.child.signalCode).toBe('SIGKILL');
    expect(machine.courierPid()).toBe(process.pid);
  });

  it('is replaced when it hangs on a letter that is older than its last heartbeat', () => {
    const machine = startMachine();
    const state = machine.home.folder('state');
    writeFileSync(join(state, 'courier.pid'), `${process.pid}\n`);
    const node = join(state, 'fake-node');
    writeFileSync(node, `#!/bin/sh\necho started >> ${state}/started\n`, { mode: 0o755 });
    writeFileSync(join(state, 'node'), `${node}\n`);
    const started = () => existsSync(join(state, 'started'));
    const age = (path: string, seconds: number) => {
      const then = new Date(Date.now() - seconds * 1_000);
      utimesSync(path, then, then);
    };
    machine.write(PANE, stopInput('one'));
    age(machine.letters()[0] ?? '', 300);
    age(join(state, 'courier.pid'), 200);
    machine.write(PANE, stopInput('two'));
    expect(started()).toBe(false);
    age(machine.letters()[1] ?? '', 100);
    machine.write(PANE, stopInput('three'));
    return soon(() => expect(started()).toBe(true));
  });

  it('does not replace a busy courier that still sends heartbeats', async () => {
    const machine = startMachine();
    inProcess(machine, () => sleep(60_000, undefined, { ref: false }));
    const pid = machine.home.path('state', 'courier.pid');
    await soon(() => expect(existsSync(pid)).toBe(true));
    const before = statSync(pid).mtimeMs;
    await soon(() => expect(statSync(pid).mtimeMs).toBeGreaterThan(before));
    const second = machine.courier();
    await second.ended;
    expect(second.child.exitCode).toBe(0);
    expect(machine.courierPid()).toBe(process.pid);
  });

  it('delivers the letters of a pane in order, including those that arrive while it works', async () => {
    const machine = startMachine();
    const got: (string | undefined)[] = [];
    machine.write(PANE, stopInput('0'));
    inProcess(machine, async (letter) => {
      await sleep(20);
      got.push(textOf(letter));
    });
    for (let n = 1; n < 10; n++) machine.write(PANE, stopInput(String(n)));
    await vi.waitFor(() => expect(got).toEqual('0123456789'.split('')), 20_000);
    expect(machine.letters()).toEqual([]);
  });

  it('keeps an undeliverable letter first in its pane, and delays no other pane', async () => {
    const machine = startMachine();
    const other: PaneEnv = { ...PANE, TMUX_PANE: '%8' };
    machine.write(PANE, stopInput('one'));
    machine.write(PANE, stopInput('two'));
    machine.write(other, stopInput('elsewhere'));
    const got: (string | undefined)[] = [];
    let refusals = 2;
    inProcess(machine, async (letter) => {
      if (textOf(letter) === 'one' && refusals-- > 0) throw new Error('the server is away');
      got.push(textOf(letter));
    });
    await vi.waitFor(() => expect(got).toEqual(['elsewhere', 'one', 'two']), 8_000);
  });

  it('handles at most 200 letters at the same time, and those that wait for the next attempt hold up no others', async () => {
    const machine = startMachine();
    const outbox = openOutbox(machine.home.folder('outbox'));
    const letter = (pane: number) =>
      `threadmux 2\ntmux /s,4242,0\npane %${pane}\n\n${JSON.stringify(stopInput(`of ${pane}`))}\n`;
    for (let pane = 0; pane < 450; pane++) outbox.add(`4242.${pane}`, letter(pane));
    let [running, most, failed] = [0, 0, 0];
    const got = new Set<string>();
    inProcess(machine, async ({ pane }) => {
      most = Math.max(most, ++running);
      await sleep(10);
      running--;
      if (Number(pane.slice(1)) % 2 === 0 && failed++ < 225) throw new Error('the server is away');
      got.add(pane);
    });
    await vi.waitFor(() => expect(got.size).toBe(450), 30_000);
    expect(most).toBeLessThanOrEqual(200);
  });

  it('does not read the folder of a pane again for each of its letters', async () => {
    const machine = startMachine();
    const box = join(machine.home.folder('outbox'), '4242.7');
    mkdirSync(box);
    let got = 0;
    inProcess(machine, async () => void got++);
    await vi.waitFor(() => expect(machine.courierPid()).toBe(process.pid));
    const reads = vi.spyOn(fs, 'readdirSync');
    syncBuiltinESMExports();
    onTestFinished(() => {
      reads.mockRestore();
      syncBuiltinESMExports();
    });
    for (let n = 0; n < 500; n++) {
      const text = `threadmux 2\ntmux /s,4242,0\npane %7\n\n${JSON.stringify(stopInput('x'))}\n`;
      writeFileSync(join(box, '.new'), text);
      renameSync(join(box, '.new'), join(box, `${100_000_000 + n}.1`));
    }
    await vi.waitFor(() => expect(got).toBe(500), 30_000);
    expect(reads.mock.calls.filter(([folder]) => folder === box).length).toBeLessThan(100);
  });

  it('sets aside a letter that killed it twice, says so in its thread, and continues', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    machine.write(pane, stopInput('deadly'));
    machine.write(pane, stopInput('behind it'));
    const [letter = ''] = machine.letters();
    for (let times = 0; times < 2; times++) {
      const dying = dyingCourier(machine);
      await dying.ended;
      expect(dying.child.signalCode).toBe('SIGKILL');
      expect(machine.letters()).toHaveLength(2);
    }
    machine.courier();
    await vi.waitFor(async () => {
      const said = (await saidIn(workspace, '[agent] web')).join('\n');
      expect(said).toContain('could not be processed and was set aside');
      expect(said).toContain(basename(letter));
      expect(said).toContain('behind it');
      expect(said).not.toContain('deadly');
    }, 15_000);
    await soon(() => expect(machine.letters()).toEqual([]));
    await soon(() => expect(readdirSync(machine.home.path('outbox', 'begun'))).toEqual([]));
    expect(readdirSync(machine.home.path('outbox', 'aside'))).toHaveLength(1);
    expect(machine.log()).toContain('the process died twice while handling it');
  });

  it('sets aside a letter that it cannot handle because of a defect of its own, and continues', async () => {
    const machine = startMachine();
    machine.write(PANE, stopInput('strange'));
    machine.write(PANE, stopInput('behind it'));
    const got: (string | undefined)[] = [];
    inProcess(machine, async (letter) => {
      if (textOf(letter) === 'strange') throw new TypeError('text.slice is not a function');
      got.push(textOf(letter));
    });
    await vi.waitFor(() => expect(got).toEqual(['behind it']), 30_000);
    expect(openOutbox(machine.home.folder('outbox')).aside()).toHaveLength(1);
  });

  it('does not suspect a letter whose delivery fails, or that waits for the network', async () => {
    const machine = startMachine();
    machine.write(PANE, stopInput('one'));
    const begun = machine.home.path('outbox', 'begun');
    const notes = () => (existsSync(begun) ? readdirSync(begun) : []);
    const got: string[] = [];
    const failing = inProcess(machine, async () => {
      got.push('tried');
      throw new Error('the server is away');
    });
    await vi.waitFor(() => expect(got.length).toBeGreaterThan(2), 20_000);
    failing.stop();
    await failing.done;
    expect(notes()).toEqual([]);
    let begins = 0;
    inProcess(machine, () => {
      begins++;
      return sleep(60_000, undefined, { ref: false });
    });
    await vi.waitFor(() => expect(begins).toBe(1), 20_000);
    expect(notes()).toHaveLength(1);
    await vi.waitFor(() => expect(notes()).toEqual([]), 20_000); // it answers, so this letter does not kill it
  });

  it('clears a letter that was only in progress while another one killed the courier', async () => {
    const { machine, begun } = startWithSuspect('harmless');
    const got: (string | undefined)[] = [];
    inProcess(machine, async (one) => void got.push(textOf(one)));
    await vi.waitFor(() => expect(got).toEqual(['harmless']), 20_000);
    await vi.waitFor(() => expect(readdirSync(begun)).toEqual([]), 20_000);
  });

  it('delivers the letters of other panes while a suspect waits for the server, and does not blame the suspect again', async () => {
    const { machine, note } = startWithSuspect('suspect');
    const got: (string | undefined)[] = [];
    inProcess(machine, async (one) => {
      got.push(textOf(one));
      if (textOf(one) === 'suspect') await sleep(60_000, undefined, { ref: false });
    });
    await vi.waitFor(() => expect(got).toEqual(['suspect']), 20_000);
    expect(readFileSync(note, 'utf8')).toBe('2\n');
    machine.write({ ...PANE, TMUX_PANE: '%8' }, stopInput('elsewhere'));
    await vi.waitFor(() => expect(got).toEqual(['suspect', 'elsewhere']), 20_000);
    expect(readFileSync(note, 'utf8')).toBe('1\n');
  });

  it('sets a corrupt letter aside with a line in the log, and delivers the rest', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    machine.write(pane, stopInput('before'));
    machine.write(pane, '{"hook_event_name": "Stop", "session_id": ');
    machine.write(pane, { ...stopInput('x'), session_id: 5 });
    machine.write(pane, stopInput('after'));
    const [first = ''] = machine.letters();
    writeFileSync(first.replace(/\d{9}\.\d+$/, '100000000.1'), 'not a letter at all');
    machine.courier();
    await untilSaid(workspace, '[agent] web', ['before', 'after']);
    await soon(() => expect(machine.letters()).toEqual([]));
    expect(readdirSync(machine.home.path('outbox', 'aside'))).toHaveLength(3);
    expect(machine.log().match(/corrupt letter set aside/g)).toHaveLength(3);
  });

  it('leaves a letter of a newer version in place, and delivers the others', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    machine.write(pane, stopInput('from the future'));
    const [letter = ''] = machine.letters();
    writeFileSync(letter, readFileSync(letter, 'utf8').replace(/^threadmux \d+/, 'threadmux 3'));
    machine.write(pane, stopInput('of today'));
    machine.courier();
    await untilSaid(workspace, '[agent] web', ['of today']);
    await soon(() => expect(machine.letters()).toEqual([letter]));
    expect(machine.log().match(/newer version/g)).toHaveLength(1);
  });

  it('removes a letter with an unknown event', async () => {
    const machine = startMachine();
    machine.write(PANE, { ...stopInput('x'), hook_event_name: 'TeammateIdle' });
    const deliver = vi.fn(async () => {});
    inProcess(machine, deliver);
    await soon(() => expect(machine.letters()).toEqual([]));
    expect(deliver).not.toHaveBeenCalled();
  });

  it.each([
    ['archives', 50083],
    ['locks', 160005],
  ])('keeps a reply if somebody %s the thread again before it is posted', async (_, code) => {
    let times = 3; // reopening it does not help at once
    const refused = { kind: 'answer', status: 400, body: { code, message: 'closed' } } as const;
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method, path }) => {
          const isPost = method === 'POST' && path.endsWith('/messages') && !path.includes(workspace.channelId);
          return isPost && times-- > 0 ? refused : undefined;
        },
      },
    });
    const machine = startMachine(workspace);
    machine.write(machine.session('web'), stopInput('the reply'));
    machine.courier();
    await untilSaid(workspace, '[agent] web', ['the reply']);
    expect(times).toBeLessThan(0);
    expect(machine.log()).not.toContain('set aside');
  });

  it('sets a letter aside that the server refuses permanently, and continues', async () => {
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method, body }) =>
          method === 'POST' && JSON.stringify(body ?? '').includes('poison')
            ? { kind: 'answer', status: 400, body: { code: 50035, message: 'Invalid Form Body' } }
            : undefined,
      },
    });
    const machine = startMachine(workspace);
    const pane = machine.session('web');
    machine.write(pane, stopInput('poison'));
    machine.write(pane, stopInput('food'));
    machine.courier();
    await untilSaid(workspace, '[agent] web', ['food']);
    expect(machine.log()).toContain('refused for good');
  });

  it('continues with a new token once the configuration has one', async () => {
    const workspace = await startTestWorkspace();
    const { api, token, channelId: channel, userId } = workspace;
    const config = (given: string) => ({ servers: [{ name: 'home', api, token: given, channel, allow: [userId] }] });
    const machine = startMachine(undefined, { config: config('refused') });
    machine.drop(machine.session('web'), stopInput('hello'));
    await vi.waitFor(() => expect(machine.log()).toContain('letter waits'), 20_000);
    const before = machine.courierPid();
    writeFileSync(machine.home.path('config.json'), JSON.stringify(config(token)), { mode: 0o600 });
    await untilSaid(workspace, '[agent] web', ['hello'], 25_000);
    expect(machine.courierPid()).toBe(before);
  });

  it('has no token in its arguments or in its environment', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    machine.drop(machine.session('web'), stopInput('hello'));
    await untilSaid(workspace, '[agent] web', ['hello']);
    const pid = machine.courierPid() ?? 0;
    const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
    expect(stdout).toContain(COURIER);
    expect(stdout).not.toContain(workspace.token);
    for (const one of processesWith(`THREADMUX_HOME=${machine.home.root}`))
      for (const file of ['cmdline', 'environ'])
        expect(readFileSync(`/proc/${one}/${file}`, 'utf8')).not.toContain(workspace.token);
    expect(machine.log()).not.toContain(workspace.token);
    expect(await saidIn(workspace, '[agent] web')).toEqual(['hello']);
  });

  it('gets a token from the environment of the pane through a pipe, and has none in its own', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine();
    const env = {
      DISCORD_BOT_TOKEN: workspace.token,
      DISCORD_CHANNEL_ID: workspace.channelId,
      DISCORD_ALLOWED_USERS: workspace.userId,
      DISCORD_API_BASE: workspace.api,
    };
    machine.drop(machine.session('web'), stopInput('hello'), { env });
    await untilSaid(workspace, '[agent] web', ['hello']);
    const pid = machine.courierPid() ?? 0;
    for (const file of ['cmdline', 'environ'])
      expect(readFileSync(`/proc/${pid}/${file}`, 'utf8')).not.toContain(workspace.token);
  });
});
