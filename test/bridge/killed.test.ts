// The whole program as a process, killed with SIGKILL at every step of a message and restarted: nothing is lost, repeated or
// out of order, and the marks are right at the end. A wrapper around the real tmux does the killing, exactly at the step.

import { readdirSync, watch } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import type { Faults } from '../support/as-discord.mjs';
import { startFakeClaude } from '../support/fake-claude.ts';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace, type TestWorkspace, type UploadedFile, type WireMessage } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { startUp } from './killed-program.ts';

async function settled(workspace: TestWorkspace, machine: Machine, message: WireMessage) {
  await vi.waitFor(async () => {
    const path = `/channels/${message.channel_id}/messages/${message.id}`;
    const { body } = await workspace.person.call('GET', path);
    const marks = (body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [];
    expect([message.content, ...marks]).toEqual([message.content, '✅']);
    const left = readdirSync(machine.home.folder('inbox'));
    expect(left.filter((name) => !name.startsWith('.'))).toEqual([]);
  }, WAIT);
}

/** Calls `act` at the first change in a folder for which `isIt` holds. */
function atChange(folder: string, act: () => void, isIt: () => boolean = () => true): void {
  const watcher = watch(folder, () => {
    if (!isIt()) return;
    watcher.close();
    act();
  });
}

/** `local`: the bridge uses the workspace as a local one and not as Discord, so it downloads its files. */
async function start({ local = false } = {}) {
  let onMark: { method: string; part: string; when: 'before' | 'after'; act: () => void } | undefined;
  const onRequest: Faults['onRequest'] = ({ method, path }) => {
    const trap = onMark;
    if (trap === undefined || method !== trap.method) return undefined;
    if (!path.includes(encodeURIComponent(trap.part)) && !path.includes(trap.part)) return undefined;
    onMark = undefined;
    trap.act();
    return { kind: trap.when === 'before' ? 'reset' : 'apply-then-reset' };
  };
  const workspace = await startTestWorkspace({ faults: { onRequest } });
  const { api, token, channelId, userId } = workspace;
  // With the token in its environment, the program would start a second process that does the work.
  const servers = [{ name: 'test', api, token, channel: channelId, allow: [userId] }];
  const machine = startMachine(workspace, local ? {} : { config: { servers } });
  machine.startServer();
  const startAgain = startUp(machine, { ...machine.env }, local ? 'bridge' : 'up');
  let up = await startAgain();
  const claude = await startFakeClaude(machine, 'web', { replies: false });
  const wanted: string[] = [];
  const say = (text: string, files: readonly UploadedFile[] = []) => {
    wanted.push(text);
    return workspace.person.say(claude.thread, text, { files });
  };
  const words = () => claude.prompts().map((prompt) => prompt.split('\n')[0]);
  return {
    ...{ workspace, machine, claude, wanted, say },
    up: () => up,
    async again() {
      up = await startAgain();
    },
    /** Kills it before or after a request with this part in its path is carried out. */
    killAtRequest: (method: string, part: string, when: 'before' | 'after', act: () => void) => {
      onMark = { method, part, when, act };
    },
    /** Writes one more message while it is down; then everything is typed once, in order, and marked. */
    async recover(message: WireMessage) {
      const behind = await say(`written while it was away (${message.content})`);
      up = await startAgain();
      await settled(workspace, machine, message);
      await settled(workspace, machine, behind);
      expect(words()).toEqual(wanted);
    },
  };
}

// One program and one session for many kills: each case continues with the program that the case before has started again.
// The text of each message names its case.

describe('threadmux up, killed', { timeout: 300_000 }, () => {
  it('at a step of typing, loses and repeats nothing', async () => {
    const { up, say, recover, claude } = await start();
    for (const [at, when, whom] of [
      ['load', 'before', 'both'],
      ['text', 'after', 'program'],
      ['text', 'after', 'both'],
      ['seen', 'after', 'both'],
      ['enter', 'before', 'both'],
      ['enter', 'after', 'program'],
      ['enter', 'after', 'both'],
    ] as const) {
      const killed = up().killAt(at, when, whom);
      const message = await say(`killed at ${at} (${when}, ${whom})`);
      await killed;
      await recover(message);
      expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
    }
  });

  it('at a step of a receipt, loses and repeats nothing', async () => {
    const { up, say, recover, claude, machine } = await start();
    const kill = () => up().kill();
    const { home } = machine;
    const { serverPid, paneId, thread } = claude.record();
    const deliveries = () => loadThreadRecords(home).find((one) => one.thread === thread)?.deliveries ?? [];
    for (const [step, prepare] of [
      ['as soon as it was written', () => {}],
      ['when it is on disk', () => atChange(home.folder('inbox'), kill)],
      [
        'when its receipt was written',
        () => atChange(home.path('outbox', `${serverPid}.${paneId.replace('%', '')}`), kill),
      ],
      [
        'when its receipt was noted',
        () => {
          const known = new Set(deliveries().map(({ id }) => id));
          const isNoted = () => deliveries().some(({ id, state }) => !known.has(id) && state === 'submitted');
          atChange(home.folder('threads'), kill, isNoted);
        },
      ],
    ] as const) {
      prepare();
      const message = await say(`killed ${step}`);
      if (step === 'as soon as it was written') kill();
      await up().ended;
      await recover(message);
      expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
    }
  });

  it('before or after a reaction is set, loses and repeats nothing', async () => {
    const { up, say, recover, claude, killAtRequest } = await start();
    for (const [mark, when] of [
      ['/reactions/', 'before'],
      ['/reactions/', 'after'],
      ['✅', 'before'],
      ['✅', 'after'],
    ] as const) {
      killAtRequest('PUT', mark, when, () => up().kill());
      const message = await say(`killed ${when} ${mark}`);
      await up().ended;
      await recover(message);
      expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
    }
  });

  it('when the files of a message were fetched, loses and repeats nothing', async () => {
    const { up, say, recover, claude, machine } = await start({ local: true });
    atChange(machine.home.folder('files'), () => up().kill());
    const message = await say('killed', [{ name: 'a.txt', data: 'text' }]);
    await up().ended;
    await recover(message);
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });

  it('before or after a notice is posted or deleted, leaves no second notice and none at the end', async () => {
    const { up, say, recover, claude, workspace, killAtRequest } = await start();
    const notices = async () => {
      const all = await workspace.person.messages(claude.thread);
      return all.filter(({ content }) => content.startsWith('📨 Your message waits'));
    };
    for (const [method, part, when] of [
      ['POST', '/messages', 'before'],
      ['POST', '/messages', 'after'],
      ['DELETE', '/messages/', 'before'],
      ['DELETE', '/messages/', 'after'],
    ] as const) {
      await claude.tell('dialog', 'make');
      const isDeleted = method === 'DELETE';
      const message = await say(`killed ${when} ${method}`);
      if (isDeleted) await vi.waitFor(async () => expect(await notices()).toHaveLength(1), WAIT);
      killAtRequest(method, part, when, () => up().kill());
      if (isDeleted) await claude.tell('close');
      await up().ended;
      // The reason is another one after the restart, so that the nonce of the first notice does not help.
      const choice = { title: 'Select model', options: ['Default', 'Opus'], at: 0, numbered: true };
      if (!isDeleted) await claude.tell('close');
      if (!isDeleted) await claude.tell('choice', choice);
      const recovered = recover(message);
      if (!isDeleted) {
        await vi.waitFor(
          async () =>
            expect((await notices()).map(({ content }) => content)).toEqual([
              expect.not.stringContaining('permission'),
            ]),
          WAIT,
        );
        await claude.tell('choice', undefined);
      }
      await recovered;
      expect(await notices()).toEqual([]);
    }
  });

  it.each([
    ['before it was posted', 'POST before'],
    ['after it was posted', 'POST after'],
    ['when it is in the inbox', 'inbox'],
  ] as const)('%s, sends a scheduled message once', { timeout: 90_000 }, async (_, step) => {
    const { up, again, claude, workspace, machine, killAtRequest } = await start();
    const { home } = machine;
    const kill = () => up().kill();
    const posts = async (text: RegExp) =>
      (await workspace.person.messages(claude.thread)).filter(({ content }) => text.test(content));
    await workspace.person.say(claude.thread, '!at +4s killed');
    await vi.waitFor(async () => expect(await posts(/^⏰ Scheduled/)).toHaveLength(1), WAIT);
    const [method = '', when] = step.split(' ');
    if (when === 'before' || when === 'after') killAtRequest(method, '/messages', when, kill);
    if (step === 'inbox') atChange(home.folder('inbox'), kill);
    await up().ended;
    await again();
    const [message] = await vi.waitFor(async () => {
      const found = await posts(/^killed\n-# ⏰/);
      expect(found).toHaveLength(1);
      return found;
    }, WAIT);
    if (message !== undefined) await settled(workspace, machine, message);
    expect(claude.prompts()).toEqual(['killed']);
  });
});
