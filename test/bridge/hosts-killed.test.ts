// The program as a process, with a host over ssh. The program, the ssh client and the collector on the host are killed with
// SIGKILL: nothing is lost, repeated or out of order.

import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WAIT } from './bridge-setup.ts';
import { farWithHooks } from './remote-host.ts';
import { killAll, startRemoteProgram } from './remote-program.ts';

const STEPS = [
  ...([
    ['load', 'before'],
    ['text', 'before'],
    ['text', 'after'],
  ] as const),
  ...([
    ['seen', 'after'],
    ['enter', 'before'],
    ['enter', 'after'],
  ] as const),
];

async function start() {
  const program = await startRemoteProgram();
  const { workspace, machine, far } = program;
  const claude = await farWithHooks({ machine }, far, 'web');
  const { person, botId } = workspace;
  const answers = async (channel: string) =>
    (await person.messages(channel))
      .filter(({ author }) => author.id === botId)
      .toReversed()
      .map(({ content }) => content);
  const echoes = async () =>
    (await answers(claude.thread)).flatMap((text) => text.match(/Echo: [^\n]+/)?.[0].trim() ?? []);
  return {
    ...program,
    ...{ claude, answers, echoes },
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

describe('with a remote host, nothing is lost or repeated by killing', () => {
  it.each(['UserPromptSubmit', 'Stop'])(
    'the program, with an unacknowledged letter of %s on its disk',
    async (event) => {
      const { machine, killProgram, hasEnded, say, settled, up, echoes } = await start();
      await say('before');
      await settled('before');
      const folder = machine.home.path('outbox', '@far');
      atLetter(folder, new RegExp(`"hook_event_name":"${event}"`), () => void killProgram());
      // A letter may be posted and gone before the test has read it: then it is the turn of the next one.
      const texts = ['before'];
      while (!hasEnded()) {
        texts.push(`killed ${texts.length}`);
        await say(texts.at(-1) ?? '');
        await vi.waitFor(async () => expect(hasEnded() || (await echoes()).length === texts.length).toBe(true), WAIT);
      }
      texts.push('while it was away');
      await say('while it was away');
      await up();
      await settled(...texts);
    },
  );

  it.each([
    ['the ssh clients', 'sshClients'],
    ['the collector on the host', 'collectors'],
  ] as const)('%s, three times in the middle of messages', async (_, victims) => {
    const all = await start();
    const texts = Array.from({ length: 9 }, (_, n) => `message ${n}`);
    let killed = 0;
    for (const [n, text] of texts.entries()) {
      await all.say(text);
      if (n % 3 !== 1) continue;
      await vi.waitFor(() => expect(all[victims]().length).toBeGreaterThan(0), WAIT);
      killed += killAll(all[victims]());
    }
    expect(killed).toBeGreaterThanOrEqual(3);
    await all.settled(...texts);
  });

  it.each([
    ['the program', 'program'],
    ['the ssh clients', 'ssh'],
    ['the collector on the host', 'collect'],
    ['the script that types on the host', 'script'],
  ] as const)('%s, at every step of typing', { timeout: 240_000 }, async (_, victim) => {
    const all = await start();
    const texts: string[] = [];
    for (const [step, when] of STEPS) {
      texts.push(`killed at ${step} ${when}`);
      const stopped = all.stopAt(step, when);
      await all.say(texts.at(-1) ?? '');
      const { script, go } = await stopped;
      if (victim === 'program') await all.killProgram();
      else if (victim === 'script') killAll([script]);
      else expect(killAll(victim === 'ssh' ? all.sshClients() : all.collectors())).toBeGreaterThan(0);
      go(victim === 'script' ? 'exit' : 'on');
      if (victim === 'program') await all.up();
      await all.settled(...texts);
    }
  });

  it('the program, three times while a terminal on the host streams', async () => {
    const { workspace, up, killProgram, answers, claude } = await start();
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
    for (const at of [5, 30, 60]) {
      await vi.waitFor(async () => expect((await printed())?.at(-1)).toBeGreaterThan(at), WAIT);
      await killProgram();
      await up();
    }
    await vi.waitFor(async () => {
      const ends = (await answers(thread)).filter((text) => text.startsWith('⏹️'));
      expect(ends).toEqual([expect.stringMatching(/Exited with code 3/)]);
    }, WAIT);
    expect(await printed()).toEqual(Array.from({ length: 150 }, (_, n) => n + 1));
    expect(claude.prompts()).toEqual([]);
  });
});
