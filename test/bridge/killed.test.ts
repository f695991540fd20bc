// The whole program as a process, killed with SIGKILL at every step of a message and restarted: nothing is lost, repeated or
// out of order, and the marks are right at the end. A wrapper around the real tmux does the killing, exactly at the step.

import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import { startFakeClaude } from '../support/fake-claude.ts';
import { type Machine, saidIn } from '../support/hook-process.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import type { TestWorkspace, UploadedFile, WireMessage } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

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

/** `local`: the bridge uses the workspace as a local one and not as Discord, so it downloads its files. */
async function start(options: { readonly local?: boolean } = {}) {
  const program = await startKillable(options);
  const { workspace, machine } = program;
  const claude = await startFakeClaude(machine, 'web', { replies: false });
  const wanted: string[] = [];
  const say = (text: string, files: readonly UploadedFile[] = []) => {
    wanted.push(text);
    return workspace.person.say(claude.thread, text, { files });
  };
  const words = () => claude.prompts().map((prompt) => prompt.split('\n')[0]);
  return {
    ...{ ...program, claude, wanted, say },
    /** Writes one more message while it is down; then everything is typed once, in order, and marked. */
    async recover(message: WireMessage) {
      const behind = await say(`written while it was away (${message.content})`);
      await program.again();
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
    const { up, say, recover, claude, machine, killAtChange } = await start();
    const { home } = machine;
    const { serverPid, paneId, thread } = claude.record();
    const deliveries = () => loadThreadRecords(home).find((one) => one.thread === thread)?.deliveries ?? [];
    for (const [step, prepare] of [
      ['as soon as it was written', () => {}],
      ['when it is on disk', () => killAtChange(home.folder('inbox'))],
      [
        'when its receipt was written',
        () => killAtChange(home.path('outbox', `${serverPid}.${paneId.replace('%', '')}`)),
      ],
      [
        'when its receipt was noted',
        () => {
          const known = new Set(deliveries().map(({ id }) => id));
          const isNoted = () => deliveries().some(({ id, state }) => !known.has(id) && state === 'submitted');
          killAtChange(home.folder('threads'), isNoted);
        },
      ],
    ] as const) {
      prepare();
      const message = await say(`killed ${step}`);
      if (step === 'as soon as it was written') up().kill();
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
      killAtRequest('PUT', mark, when);
      const message = await say(`killed ${when} ${mark}`);
      await up().ended;
      await recover(message);
      expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
    }
  });

  it('before or after a reply is posted, or when its letter is written, posts it once, whole and in order', async () => {
    const { up, again, claude, workspace, machine, killAtRequest, killAtChange } = await start();
    const { serverPid, paneId } = claude.record();
    const outbox = machine.home.path('outbox', `${serverPid}.${paneId.replace('%', '')}`);
    const replies: string[] = [];
    for (const step of ['before', 'after', 'letter'] as const) {
      const reply = `${step}: ${'words of a long reply '.repeat(150)}end of ${step}`;
      await claude.tell('replies', reply);
      if (step === 'letter') killAtChange(outbox);
      else killAtRequest('POST', '/messages', step);
      machine.tmux.call('send-keys', '-t', '=web:', `written in the terminal, ${step}`, 'Enter');
      await up().ended;
      await again();
      replies.push(reply);
      await vi.waitFor(async () => {
        const said = (await saidIn(workspace, '[agent] web')).join(' ').replace(/\s+/g, ' ');
        expect(said.match(/(before|after|letter): |end of \w+/g)).toEqual(
          replies.flatMap((one) => [`${one.split(':')[0]}: `, `end of ${one.split(':')[0]}`]),
        );
        expect(said.match(/words of a long reply/g)).toHaveLength(150 * replies.length);
      }, WAIT);
      await vi.waitFor(() => expect(machine.letters()).toEqual([]), WAIT);
    }
  });

  it('when the files of a message were fetched, loses and repeats nothing', async () => {
    const { up, say, recover, claude, machine, killAtChange } = await start({ local: true });
    killAtChange(machine.home.folder('files'));
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
      killAtRequest(method, part, when);
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

  it('after Enter, and the session ends before the restart, does not say that the message was not delivered', async () => {
    const { up, again, say, claude, workspace, machine } = await start();
    machine.tmux.call('new-session', '-d', '-s', 'keeper', 'cat');
    await claude.tell('mute', true); // the receipt is lost with the session
    const killed = up().killAt('enter', 'after', 'program');
    const message = await say('typed');
    await killed;
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['typed']), WAIT);
    machine.tmux.call('kill-session', '-t', '=web');
    await again();
    const notice = await vi.waitFor(async () => {
      const all = await workspace.person.messages(claude.thread);
      const found = all.filter(({ content }) => content.startsWith('⚠️'));
      expect(found).toHaveLength(1);
      return found[0] as WireMessage;
    }, WAIT);
    expect(notice.content).toMatch(/^⚠️ Typed, but not confirmed\./);
    expect(buttonOf(notice, 'Retry')).toBe(`retry-asks:${message.id}`);
  });

  it('before or after it says that a message failed, says it once, and Retry types it once', async () => {
    const { up, again, workspace, machine, killAtRequest } = await startKillable();
    const { person, botId } = workspace;
    const gone = await startFakeClaude(machine, 'shop', { inShell: true, replies: false });
    const { thread } = gone;
    const notices = async () =>
      (await person.messages(thread)).filter(({ author, content }) => author.id === botId && /^⚠️/.test(content));
    await gone.tell('exit');
    const texts: string[] = [];
    for (const when of ['before', 'after'] as const) {
      killAtRequest('POST', '/messages', when);
      const message = await person.say(thread, `failed ${when}`);
      texts.push(message.content);
      await up().ended;
      await again();
      const [notice] = await vi.waitFor(async () => {
        const now = await notices();
        expect(now.map(({ content }) => content)).toEqual([expect.stringMatching(/^⚠️ Not delivered\./)]);
        return now as [WireMessage];
      }, WAIT);
      const claude = await startFakeClaude(machine, 'shop', { again: true, replies: false });
      const retry = buttonOf(notice, 'Retry');
      killAtRequest('POST', '/callback', when);
      await person.tap(thread, notice.id, retry);
      await up().ended;
      await again();
      await vi.waitFor(async () => {
        if ((await notices()).length > 0) await person.tap(thread, notice.id, retry).catch(() => {});
        expect(claude.prompts()).toEqual(texts);
      }, WAIT);
      await settled(workspace, machine, message);
      expect([claude.prompts(), await notices()]).toEqual([texts, []]);
      await claude.tell('exit');
    }
  });

  it.each([
    ['before it was posted', 'POST before'],
    ['after it was posted', 'POST after'],
    ['when it is in the inbox', 'inbox'],
  ] as const)('%s, sends a scheduled message once', async (_, step) => {
    const { up, again, claude, workspace, machine, killAtRequest, killAtChange } = await start();
    const posts = async (text: RegExp) =>
      (await workspace.person.messages(claude.thread)).filter(({ content }) => text.test(content));
    await workspace.person.say(claude.thread, '!at +4s killed');
    await vi.waitFor(async () => expect(await posts(/^⏰ Scheduled/)).toHaveLength(1), WAIT);
    const [method = '', when] = step.split(' ');
    if (when === 'before' || when === 'after') killAtRequest(method, '/messages', when);
    if (step === 'inbox') killAtChange(machine.home.folder('inbox'));
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
