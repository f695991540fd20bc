// The program as a process, with a host over ssh. The program, the ssh client and the collector on the host are killed with
// SIGKILL: nothing is lost, repeated or out of order.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import { processesWith, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { farWithHooks, startFarHost } from './remote-host.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));

async function start() {
  const workspace = await startTestWorkspace();
  const far = await startFarHost('far');
  mkdirSync(join(far.ssh.home, 'code', 'shop'), { recursive: true });
  const hosts = { far: { ssh: 'far', socket: far.place.tmux.socket, roots: ['~/code'] } };
  const { api, token, channelId, userId } = workspace;
  // With the token in its environment, the program would start a second process that does the work.
  const servers = [{ name: 'test', api, token, channel: channelId, allow: [userId] }];
  const machine = startMachine(workspace, { config: { hosts, servers } });
  const bin = join(machine.tmux.dir, 'bin');
  mkdirSync(bin);
  // The real ssh client finds its configuration through the password file, not through HOME.
  const client = `#!/bin/sh\nPATH=\${PATH#*:}; exec ssh -F '${far.ssh.configFile}' "$@"\n`;
  writeFileSync(join(bin, 'ssh'), client, { mode: 0o755 });
  const env = {
    ...machine.env,
    PATH: `${bin}:${machine.env.PATH}`,
    THREADMUX_TMUX_SOCKET: machine.tmux.socket,
  };
  const up = async () => {
    const child = spawn(process.execPath, [PROGRAM, 'up'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    const pid = holderOf(machine.home.path('state', 'bridge.lock'));
    if (pid === undefined) throw new Error('nobody holds the lock of the bridge');
    const ended = once(child, 'exit');
    return { ended, kill: () => void process.kill(pid, 'SIGKILL') };
  };
  const running = await up();
  const claude = await farWithHooks({ machine }, far, 'web');
  const { person, botId } = workspace;
  const answers = async (channel: string) =>
    (await person.messages(channel))
      .filter(({ author }) => author.id === botId)
      .toReversed()
      .map(({ content }) => content);
  const echoes = async () =>
    (await answers(claude.thread)).flatMap((text) => text.match(/Echo: [\w ]+/)?.[0].trim() ?? []);
  return {
    ...{ workspace, far, machine, claude, up, running, answers, echoes },
    say: (text: string) => person.say(claude.thread, text),
    /** Everything was typed once and answered once, in this order. */
    async settled(...texts: string[]) {
      const wanted = texts.map((text) => `Echo: ${text}`);
      await vi.waitFor(async () => expect(await echoes()).toEqual(wanted), WAIT);
      expect(claude.prompts()).toEqual(texts);
      await vi.waitFor(async () => {
        const all = await person.messages(claude.thread);
        const said = all.filter(({ author }) => author.id !== botId);
        const marks = said.map((one) => one.reactions?.map(({ emoji }) => emoji.name).join());
        expect(marks).toEqual(texts.map(() => '✅'));
      }, WAIT);
      // The host removes a letter shortly after it was posted here.
      await vi.waitFor(() => {
        const left = readdirSync(join(far.ours, 'outbox'), { recursive: true, encoding: 'utf8' });
        expect(left.filter((name) => /\/\d+\./.test(name))).toEqual([]);
      }, WAIT);
      expect(await echoes()).toEqual(wanted);
    },
  };
}

/** Calls `act` when a matching letter has been put into our outbox for this host. */
function atLetter(folder: string, fits: RegExp, act: () => void): void {
  const watcher = watch(folder, { recursive: true }, (_, name) => {
    if (name === null || !/\/\d+\.\d+$/.test(name)) return;
    try {
      if (!fits.test(readFileSync(join(folder, name), 'utf8'))) return;
    } catch {
      return; // posted and gone
    }
    watcher.close();
    act();
  });
  onTestFinished(() => watcher.close());
}

const holders = (path: string, pids: readonly number[]) =>
  pids.filter((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path);
    } catch {
      return false; // it has exited
    }
  });

function killAll(pids: readonly number[]): number {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  return pids.length;
}

describe('with a remote host, nothing is lost or repeated by killing', () => {
  it.each(['UserPromptSubmit', 'Stop'])(
    'the program, with an unacknowledged letter of %s on its disk',
    async (event) => {
      const { machine, running, say, settled, up, echoes } = await start();
      await say('before');
      await settled('before');
      const folder = machine.home.path('outbox', '@far');
      atLetter(folder, new RegExp(`"hook_event_name":"${event}"`), running.kill);
      let hasEnded = false;
      void running.ended.then(() => {
        hasEnded = true;
      });
      // A letter may be posted and gone before the test has read it: then it is the turn of the next one.
      const texts = ['before'];
      while (!hasEnded) {
        texts.push(`killed ${texts.length}`);
        await say(texts.at(-1) ?? '');
        await vi.waitFor(async () => expect(hasEnded || (await echoes()).length === texts.length).toBe(true), WAIT);
      }
      texts.push('while it was away');
      await say('while it was away');
      await up();
      await settled(...texts);
    },
  );

  it.each([
    [
      'the ssh clients',
      ({ machine }: Awaited<ReturnType<typeof start>>) =>
        processesWith(`HOME=${machine.env.HOME}`).filter(
          (pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'ssh',
        ),
    ],
    [
      'the collector on the host',
      ({ far }: Awaited<ReturnType<typeof start>>) =>
        holders(join(far.ours, 'bell'), processesWith(`HOME=${far.ssh.home}`)),
    ],
  ] as const)('%s, three times in the middle of messages', async (_, victims) => {
    const all = await start();
    const texts = Array.from({ length: 9 }, (_, n) => `message ${n}`);
    let killed = 0;
    for (const [n, text] of texts.entries()) {
      await all.say(text);
      if (n % 3 !== 1) continue;
      await vi.waitFor(() => expect(victims(all).length).toBeGreaterThan(0), WAIT);
      killed += killAll(victims(all));
    }
    expect(killed).toBeGreaterThanOrEqual(3);
    await all.settled(...texts);
  });

  it('the program, three times while a terminal on the host streams', async () => {
    const { workspace, up, running, answers, claude } = await start();
    const { person, channelId } = workspace;
    const count = 'i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo n$i; sleep 0.05; done; exit 3';
    await person.say(channelId, `!terminal far:shop ${count}`);
    const thread = await vi.waitFor(async () => {
      const [, id] = /is up: <#(\d+)>/.exec((await answers(channelId)).join('\n')) ?? [];
      return id ?? expect.fail('the terminal is not up');
    }, WAIT);
    const printed = async () =>
      (await answers(thread))
        .join('\n')
        .match(/^n\d+$/gm)
        ?.map((line) => Number(line.slice(1)));
    let now = running;
    for (const at of [5, 30, 60]) {
      await vi.waitFor(async () => expect((await printed())?.at(-1)).toBeGreaterThan(at), WAIT);
      now.kill();
      await now.ended;
      now = await up();
    }
    await vi.waitFor(async () => {
      const ends = (await answers(thread)).filter((text) => text.startsWith('⏹️'));
      expect(ends).toEqual([expect.stringMatching(/Exited with code 3/)]);
    }, WAIT);
    expect(await printed()).toEqual(Array.from({ length: 150 }, (_, n) => n + 1));
    expect(claude.prompts()).toEqual([]);
  });
});
