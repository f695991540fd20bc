// The program as a process, with a host over ssh. The program, the ssh client and the collector on the host are killed with
// SIGKILL: nothing is lost, repeated or out of order.

import { readdirSync, readFileSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WAIT } from './bridge-setup.ts';
import { farWithHooks } from './remote-host.ts';
import { killAll, startRemoteProgram } from './remote-program.ts';

const STEPS = [
  ['load', 'before'],
  ['text', 'before'],
  ['text', 'after'],
  ['seen', 'after'],
  ['enter', 'before'],
  ['enter', 'after'],
] as const;

async function start() {
  const program = await startRemoteProgram();
  const { workspace, machine, far } = program;
  const { person, botId } = workspace;
  const answers = async (channel: string) =>
    (await person.messages(channel))
      .filter(({ author }) => author.id === botId)
      .toReversed()
      .map(({ content }) => content);
  return {
    ...program,
    answers,
    async session(name: string) {
      const claude = await farWithHooks({ machine }, far, name);
      const { thread } = claude;
      const { paneId } = claude.record();
      const texts: string[] = [];
      const echoes = async () =>
        (await answers(thread)).flatMap((text) => text.match(/Echo: [^\n]+/)?.[0].trim() ?? []);
      return {
        paneId,
        echoes,
        texts,
        say(text: string) {
          texts.push(text);
          return person.say(thread, text);
        },
        /** Everything was typed once and answered once, in this order, and nothing is left in the box. */
        async settled() {
          const wanted = texts.map((text) => `Echo: ${text}`);
          await vi.waitFor(async () => expect(await echoes()).toEqual(wanted), WAIT);
          expect(claude.prompts()).toEqual(texts);
          expect(await claude.tell('idle')).toEqual({ box: '', swallowed: 0 }); // and nothing is stashed
          await vi.waitFor(async () => {
            const said = (await person.messages(thread)).filter(({ author }) => author.id !== botId);
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
  it('the program, the ssh clients, the collector or the script on the host, at every step of typing', async () => {
    const all = await start();
    const sessions = await Promise.all(STEPS.map((_, n) => all.session(`web-${n}`)));
    for (const victim of ['program', 'ssh', 'collect', 'script'] as const) {
      // One session waits at each step, and the victim is killed once for all of them.
      const stopping = [];
      for (const [n, { say, paneId }] of sessions.entries()) {
        const [step, when] = STEPS[n] ?? expect.fail('a session per step');
        // To load a text needs no pane.
        const stopped = all.stopAt(step, when, step === 'load' ? undefined : paneId);
        await say(`${victim} killed at ${step} ${when}`);
        if (step === 'load') await stopped;
        stopping.push(stopped);
      }
      const stopped = await Promise.all(stopping);
      if (victim === 'program') await all.killProgram();
      else if (victim === 'script') killAll(stopped.map(({ script }) => script));
      else expect(killAll(victim === 'ssh' ? all.sshClients() : all.collectors())).toBeGreaterThan(0);
      for (const { go } of stopped) go(victim === 'script' ? 'exit' : 'on');
      if (victim === 'program') await all.up();
      for (const { settled } of sessions) await settled();
    }
  });

  it('the program with an unacknowledged letter on its disk, or anything in the middle of messages and output', async () => {
    const all = await start();
    const { workspace, machine, killProgram, hasEnded, up, answers } = all;
    const { say, settled, texts, echoes } = await all.session('web');
    for (const event of ['UserPromptSubmit', 'Stop']) {
      await say(`before ${event}`);
      await settled();
      const folder = machine.home.path('outbox', '@far');
      atLetter(folder, new RegExp(`"hook_event_name":"${event}"`), () => void killProgram());
      // A letter may be posted and gone before the test has read it: then it is the turn of the next one.
      while (!hasEnded()) {
        await say(`killed at ${event} ${texts.length}`);
        await vi.waitFor(async () => expect(hasEnded() || (await echoes()).length === texts.length).toBe(true), WAIT);
      }
      await say(`while it was away ${event}`);
      await up();
      await settled();
    }

    for (const victims of ['sshClients', 'collectors'] as const) {
      let killed = 0;
      for (let n = 0; n < 6; n++) {
        await say(`message ${n}, ${victims}`);
        if (n % 2 !== 1) continue;
        await vi.waitFor(() => expect(all[victims]().length).toBeGreaterThan(0), WAIT);
        killed += killAll(all[victims]());
      }
      expect(killed).toBeGreaterThanOrEqual(3);
      await settled();
    }

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
    await settled();
  });
});
