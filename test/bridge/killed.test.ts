// The whole program as a process, killed with SIGKILL at every step of a message and restarted: nothing is lost, repeated or
// out of order, and the marks are right at the end. Many sessions wait at a step each, exactly there, while one SIGKILL ends the program.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loadThreadRecords } from '../../threads/registry.ts';
import { type FakeOptions, startFakeClaude } from '../support/fake-claude.ts';
import { saidIn } from '../support/hook-process.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import type { UploadedFile, WireMessage } from '../support/workspace.ts';
import { WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

const BOTH_SIDES = ['before', 'after'] as const;

/** `local`: the bridge uses the workspace as a local one and not as Discord, so it downloads its files. */
async function start(options: { readonly local?: boolean } = {}) {
  const program = await startKillable(options);
  const { workspace, machine, up, again, killAtChange } = program;
  const { person, botId } = workspace;
  const inbox = () =>
    readdirSync(machine.home.folder('inbox'))
      .filter((name) => !name.startsWith('.'))
      .map((name) => readFileSync(join(machine.home.folder('inbox'), name), 'utf8'));

  async function session(name: string, fake: FakeOptions = {}) {
    const claude = await startFakeClaude(machine, name, { replies: false, ...fake });
    const { thread } = claude;
    const { serverPid, paneId } = claude.record();
    const said: string[] = [];
    const messages = async (pattern: RegExp) =>
      (await person.messages(thread)).filter(({ author, content }) => author.id === botId && pattern.test(content));
    return {
      claude,
      thread,
      paneId,
      outbox: machine.home.path('outbox', `${serverPid}.${paneId.replace('%', '')}`),
      /** What the bot wrote there. */
      messages,
      say(text: string, files: readonly UploadedFile[] = []) {
        said.push(text);
        return person.say(thread, text, { files });
      },
      /** Everything that was said there was typed once, in order, and marked, and nothing is left in the box. */
      async settled(...earlier: readonly string[]) {
        const wanted = [...earlier, ...said];
        await vi.waitFor(async () => {
          const all = (await person.messages(thread)).toReversed();
          const marked = all.filter(({ author, content }) => author.id !== botId || /\n-# ⏰/.test(content));
          const marks = marked.map(({ content, reactions }) => [
            content.split('\n')[0],
            ...(reactions?.map(({ emoji }) => emoji.name) ?? []),
          ]);
          expect(marks.filter(([text = '']) => !text.startsWith('!'))).toEqual(wanted.map((text) => [text, '✅']));
        }, WAIT);
        const noted = claude.noted().map(({ kind, text }) => [kind, text.split('\n')[0]]);
        expect(noted).toEqual(wanted.map((text) => ['prompt', text]));
        expect(await claude.tell('idle')).toEqual({ box: '', swallowed: 0 }); // and nothing is stashed
      },
    };
  }
  type Session = Awaited<ReturnType<typeof session>>;
  return {
    ...program,
    session,
    sessions: (...names: readonly string[]) => Promise.all(names.map((name) => session(name))),
    /** Kills it when this message is on the disk. */
    killAtInbox: (text: string) =>
      killAtChange(machine.home.folder('inbox'), () => inbox().some((one) => one.includes(text))),
    /** Writes one more message to each while it is down; then everything is typed once, in order, and marked. */
    async recover(...sessions: readonly Session[]) {
      await up().ended;
      for (const one of sessions) await one.say('written while it was away');
      await again();
      for (const one of sessions) await one.settled();
      await vi.waitFor(() => expect(inbox()).toEqual([]), WAIT);
    },
    untilInboxEmpty: () => vi.waitFor(() => expect(inbox()).toEqual([]), WAIT),
  };
}

describe('threadmux up, killed', () => {
  it('at each step of typing, of a receipt and of a reaction, loses and repeats nothing', async () => {
    const { up, again, session, sessions, recover, machine, killAtInbox, killAtChange, killHeld, ...hold } =
      await start();
    const gone = await session('gone');
    const written = await session('written');
    const typing = [
      ['load', 'before', 'both'],
      ['text', 'after', 'program'],
      ['text', 'after', 'both'],
      ['seen', 'after', 'both'],
      ['enter', 'before', 'both'],
      ['enter', 'after', 'program'],
      ['enter', 'after', 'both'],
    ] as const;
    const all = await sessions(...typing.map((_, n) => `typing-${n}`));
    const [a, b, c] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];

    const [first, ...others] = typing.map(([step, when, whom], n) => async () => {
      // To load a text needs no pane.
      const held = hold.holdTmux(step === 'load' ? undefined : all[n]?.paneId, step, when, whom);
      await all[n]?.say(`killed at ${step} (${when}, ${whom})`);
      await held;
    });
    await gone.claude.tell('mute', true); // its receipt is lost with its session
    await first?.();
    const enter = hold.holdTmux(gone.paneId, 'enter', 'after', 'program');
    const typed = await gone.say('typed');
    await Promise.all([enter, ...others.map((begin) => begin())]);
    await written.say('killed as soon as it was written');
    await killHeld();
    await vi.waitFor(() => expect(gone.claude.prompts()).toEqual(['typed']), WAIT);
    machine.tmux.call('kill-session', '-t', '=gone');
    await recover(written, ...all);
    const notice = await vi.waitFor(async () => {
      const found = await gone.messages(/^⚠️/);
      expect(found).toHaveLength(1);
      return found[0] as WireMessage;
    }, WAIT);
    expect(notice.content).toMatch(/^⚠️ Typed, but not confirmed\./);
    expect(buttonOf(notice, 'Retry')).toBe(`retry-asks:${typed.id}`);

    for (const [n, when] of BOTH_SIDES.entries()) {
      const one = all[n] as typeof a;
      const reached = hold.holdRequest('PUT', new RegExp(`/channels/${one.thread}/.*✅`), when);
      await one.say(`killed ${when} ✅`);
      await reached;
    }
    killAtInbox('killed when it is on disk');
    await c.say('killed when it is on disk');
    await recover(a, b, c);

    const reactions = [a, b].map(({ thread }, n) =>
      hold.holdRequest('PUT', new RegExp(`/channels/${thread}/.*/reactions/`), BOTH_SIDES[n] ?? 'before'),
    );
    await Promise.all([a, b].map((one) => one.say('killed at its first reaction')));
    await Promise.all(reactions);
    await killHeld();
    await recover(a, b);

    killAtChange(a.outbox);
    await a.say('killed when its receipt was written');
    await recover(a);

    const deliveries = () => loadThreadRecords(machine.home).find((one) => one.thread === a.thread)?.deliveries ?? [];
    const known = new Set(deliveries().map(({ id }) => id));
    const isNoted = () => deliveries().some(({ id, state }) => !known.has(id) && state === 'submitted');
    killAtChange(machine.home.folder('threads'), isNoted);
    await a.say('killed when its receipt was noted');
    await recover(a);
  });

  it('when the files of a message were fetched, loses and repeats nothing', async () => {
    const { session, recover, machine, killAtChange } = await start({ local: true });
    const web = await session('web');
    killAtChange(machine.home.folder('files'));
    await web.say('killed', [{ name: 'a.txt', data: 'text' }]);
    await recover(web);
  });

  it('before or after it posts a reply, a notice or a scheduled message, posts it once, and types everything once', async () => {
    const {
      up,
      again,
      session,
      sessions,
      workspace,
      machine,
      untilInboxEmpty,
      killAtInbox,
      killAtChange,
      killHeld,
      ...hold
    } = await start();
    const { person } = workspace;
    const post = (thread: string, when: 'before' | 'after', content: RegExp) =>
      hold.holdRequest('POST', new RegExp(`/channels/${thread}/messages$`), when, content);
    const names = (kind: string) => BOTH_SIDES.map((when) => `${kind}-${when}`);
    const replying = await Promise.all(
      [...names('reply'), 'reply-letter'].map((name) => session(name, { replies: true })),
    );
    const waiting = await sessions(...names('posted'), ...names('deleted'));
    const scheduled = await sessions(...names('scheduled'));
    const failing = await Promise.all(names('failed').map((name) => session(name, { inShell: true })));
    const side = (n: number) => BOTH_SIDES[n % 2] ?? 'before';

    // Each of these waits for an answer of the server when the program is killed.
    for (const [n, one] of waiting.entries()) {
      await one.claude.tell('dialog', 'make');
      const posted = n < 2 ? post(one.thread, side(n), /^📨 Your message waits/) : undefined;
      await one.say('waits');
      if (posted !== undefined) await posted;
      else await vi.waitFor(async () => expect(await one.messages(/^📨/)).toHaveLength(1), WAIT);
    }
    for (const [n, one] of waiting.slice(2).entries()) {
      const deleted = hold.holdRequest('DELETE', new RegExp(`/channels/${one.thread}/messages/`), side(n));
      await one.claude.tell('close');
      await deleted;
    }
    for (const [n, one] of failing.entries()) {
      await one.claude.tell('exit');
      const posted = post(one.thread, side(n), /^⚠️ Not delivered\./);
      await one.say('failed');
      await posted;
    }
    for (const [n, one] of scheduled.entries()) {
      const posted = post(one.thread, side(n), /^later\n-# ⏰/);
      await person.say(one.thread, '!at +1s later');
      await posted;
    }
    for (const [n, { claude, thread, outbox }] of replying.entries()) {
      await claude.tell('replies', `start ${'words of a long reply '.repeat(150)}end`);
      const posted = n < 2 ? post(thread, side(n), /words/) : undefined;
      if (posted === undefined) killAtChange(outbox);
      machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'written in the terminal', 'Enter');
      await (posted ?? up().ended);
    }
    // The reason is another one after the restart, so that the nonce of the first notice does not help.
    const choice = { title: 'Select model', options: ['Default', 'Opus'], at: 0, numbered: true };
    for (const { claude } of waiting.slice(0, 2)) {
      await claude.tell('close');
      await claude.tell('choice', choice);
    }
    for (const one of waiting) await one.say('written while it was away');
    await again();

    for (const { claude } of replying)
      await vi.waitFor(async () => {
        const said = (await saidIn(workspace, `[agent] ${claude.session}`)).join(' ').replace(/\s+/g, ' ');
        expect(said.match(/start |end/g)).toEqual(['start ', 'end']);
        expect(said.match(/words of a long reply/g)).toHaveLength(150);
      }, WAIT);
    for (const { claude, messages } of waiting.slice(0, 2)) {
      const notices = async () => (await messages(/^📨 Your message waits/)).map(({ content }) => content);
      await vi.waitFor(async () => expect(await notices()).toEqual([expect.not.stringContaining('permission')]), WAIT);
      await claude.tell('choice', undefined);
    }
    for (const one of waiting) {
      await one.settled();
      expect(await one.messages(/^📨/)).toEqual([]);
    }
    for (const one of scheduled) await one.settled('later');
    await untilInboxEmpty();
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), WAIT);

    // Retry, and a scheduled message that is in the inbox.
    const retries = [];
    for (const [n, one] of failing.entries()) {
      const [notice] = await vi.waitFor(async () => {
        const now = await one.messages(/^⚠️/);
        expect(now.map(({ content }) => content)).toEqual([expect.stringMatching(/^⚠️ Not delivered\./)]);
        return now as [WireMessage];
      }, WAIT);
      await startFakeClaude(machine, one.claude.session, { again: true, replies: false });
      const answered = hold.holdRequest('POST', /\/callback$/, side(n));
      await person.tap(one.thread, notice.id, buttonOf(notice, 'Retry'));
      await answered;
      retries.push({ ...one, tap: () => person.tap(one.thread, notice.id, buttonOf(notice, 'Retry')) });
    }
    const [last] = scheduled as [(typeof scheduled)[0]];
    killAtInbox('at last');
    await person.say(last.thread, '!at +1s at last');
    await up().ended;
    await again();
    await last.settled('later', 'at last');
    for (const { claude, messages, tap, settled } of retries) {
      await vi.waitFor(async () => {
        if ((await messages(/^⚠️/)).length > 0) await tap().catch(() => {});
        expect(claude.prompts()).toEqual(['failed']);
      }, WAIT);
      await settled();
      expect(await messages(/^⚠️/)).toEqual([]);
    }
  });
});
