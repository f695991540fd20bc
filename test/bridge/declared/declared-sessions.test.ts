// Declared sessions of this machine, with a real tmux and a real bridge.

import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseSessionName } from '../../../core/session-name.ts';
import { buttonOf } from '../../support/prompt-pane.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { makeRepo } from '../../support/worktree-repo.ts';
import { aWhile, type Setting, WAIT } from '../bridge-setup.ts';
import { projectEntry } from '../project-setup.ts';
import { sessionsOf, startDeclared } from './declared-setup.ts';

const threadOf = ({ shared }: Setting, session: string) =>
  shared.threads.registry.all().find(({ sessionName }) => sessionName === session)?.thread ?? '';

const kill = ({ machine }: Setting, session: string) => {
  const pid = machine.tmux.call('display-message', '-p', '-t', `=${session}:`, '#{pane_pid}');
  process.kill(Number(pid), 'SIGKILL');
};

describe('a declared session', () => {
  it('runs after the bridge has started, gets its prompt once per start, and starts again after a crash', async () => {
    const { setting, untilStarts, starts, agent } = await startDeclared([
      { name: 'shop', prompt: 'begin' },
      { name: 'later', start: 'manual' },
    ]);
    await untilStarts('shop', 1);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin']), WAIT);
    await setting.restart();
    await aWhile(1_500);
    expect([starts('shop'), starts('later')]).toEqual([1, 0]);

    kill(setting, 'shop');
    await untilStarts('shop', 2);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin', 'begin']), WAIT);
    await setting.answer(threadOf(setting, 'shop'), /^⚠️ `shop` ended unexpectedly\. It starts again/);

    setting.machine.tmux.call('kill-session', '-t', '=shop');
    await untilStarts('shop', 3);
    await setting.answer(threadOf(setting, 'shop'), /its tmux session was closed/);
    expect(sessionsOf(setting.machine.tmux)).toEqual(['shop']);
    // Everything is in one thread, and nothing says that the session has ended.
    const all = await setting.answers(threadOf(setting, 'shop'));
    expect(all.filter(({ content }) => content.includes('The session has ended'))).toEqual([]);
  });

  it.each(['!kill', 'the exit of its agent', '!stop-session'])(
    'stays ended after %s, also after a restart',
    async (how) => {
      const { setting, untilStarts, starts, agent } = await startDeclared([{ name: 'shop' }]);
      const { channelId } = setting.workspace;
      await untilStarts('shop', 1);
      await vi.waitFor(() => expect(threadOf(setting, 'shop')).not.toBe(''), WAIT);
      if (how.startsWith('!')) await setting.say(channelId, `${how} shop`);
      else await vi.waitFor(() => agent('shop').tell('exit', true), WAIT);
      const gone = () => expect(() => sessionsOf(setting.machine.tmux)).toThrow();
      await vi.waitFor(gone, WAIT);
      await aWhile(1_000);
      const thread = threadOf(setting, 'shop');
      await setting.answer(how.startsWith('!') ? channelId : thread, /^⏹️/);
      await setting.restart();
      await aWhile(1_000);
      expect(starts('shop')).toBe(1);

      await setting.say(channelId, '!start shop');
      await untilStarts('shop', 2);
      await setting.answer(channelId, /^▶️ `shop` is up/);
      kill(setting, 'shop');
      await untilStarts('shop', 3);
    },
  );

  it('is given up after five crashes, and the thread says so with a button', async () => {
    const { setting, untilStarts, starts } = await startDeclared([{ name: 'shop' }]);
    for (let count = 1; count <= 5; count++) {
      await untilStarts('shop', count);
      await vi.waitFor(() => kill(setting, 'shop'), WAIT);
    }
    const said = await setting.answer(
      threadOf(setting, 'shop'),
      /That was the 5th time within an hour, so it stays ended/,
    );
    await setting.restart();
    await aWhile(1_000);
    expect(starts('shop')).toBe(5);
    await setting.workspace.person.tap(said.channel_id, said.id, buttonOf(said, 'Start shop'));
    await untilStarts('shop', 6);
  });

  it('says in the channel why it cannot be started, and gives up', async () => {
    const { setting } = await startDeclared([{ name: 'shop', directory: '/does/not/exist' }]);
    const { channelId } = setting.workspace;
    await setting.answer(channelId, /^⚠️ `shop` could not be started\. That was the 5th time/);
  });

  it('counts if somebody else started it, and is started when the configuration declares it', async () => {
    const { setting, starts, untilStarts } = await startDeclared([]);
    setting.machine.tmux.call('new-session', '-d', '-s', 'shop', 'sleep', '600');
    const { config } = setting;
    await setting.restart({
      config: {
        ...config,
        sessions: [
          { name: parseSessionName('shop'), start: 'auto' },
          { name: parseSessionName('web'), start: 'auto' },
        ],
      },
    });
    await untilStarts('web', 1);
    await aWhile(1_000);
    expect([starts('shop'), sessionsOf(setting.machine.tmux)]).toEqual([0, ['shop', 'web']]);
    expect(threadOf(setting, 'shop')).not.toBe('');
    setting.machine.tmux.call('kill-session', '-t', '=shop');
    await untilStarts('shop', 1);
  });

  it('is there again after a reboot', async () => {
    const { setting, untilStarts } = await startDeclared([{ name: 'shop' }, { name: 'web' }]);
    await Promise.all([untilStarts('shop', 1), untilStarts('web', 1)]);
    await vi.waitFor(() => expect(threadOf(setting, 'shop')).not.toBe(''), WAIT);
    await setting.stop();
    setting.machine.tmux.call('kill-server');
    await setting.restart();
    await Promise.all([untilStarts('shop', 2), untilStarts('web', 2)]);
    // While the bridge runs: the tmux server is killed.
    setting.machine.tmux.call('kill-server');
    await Promise.all([untilStarts('shop', 3), untilStarts('web', 3)]);
    expect(sessionsOf(setting.machine.tmux)).toEqual(['shop', 'web']);
  });

  it('gets a scheduled message that was due while it waited to start again', async () => {
    const { setting, untilStarts, agent } = await startDeclared([{ name: 'shop' }], { startAgainMs: [6_000] });
    await untilStarts('shop', 1);
    await vi.waitFor(() => expect(threadOf(setting, 'shop')).not.toBe(''), WAIT);
    const thread = threadOf(setting, 'shop');
    await setting.say(thread, '!at +6s look at the log');
    await setting.answer(thread, /^⏰ Scheduled/);
    kill(setting, 'shop');
    await setting.answer(thread, /It starts again in/);
    await untilStarts('shop', 2);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['look at the log']), WAIT);
    const said = (await setting.answers(thread)).map(({ content }) => content);
    expect(said.filter((text) => /Not sent/.test(text))).toEqual([]);
  });

  it('that was given up says that a scheduled message is not sent', async () => {
    const { setting, untilStarts } = await startDeclared([{ name: 'shop' }], { startAgainMs: [] });
    await untilStarts('shop', 1);
    await vi.waitFor(() => expect(threadOf(setting, 'shop')).not.toBe(''), WAIT);
    const thread = threadOf(setting, 'shop');
    await setting.say(thread, '!at +6s look at the log');
    await setting.answer(thread, /^⏰ Scheduled/);
    kill(setting, 'shop');
    await setting.answer(thread, /^⏰ Not sent, because the session has ended: “look at the log”/);
  });

  it('that is stopped while its worktree is set up stays ended', async () => {
    const repo = makeRepo();
    const go = join(tempFolder(), 'go');
    const worktreeSetup = `echo waiting; until [ -e ${go} ]; do sleep 0.1; done`;
    const { setting, starts } = await startDeclared([{ name: 'shop', directory: repo.path, worktree: true }], {
      file: { worktreeSetup },
    });
    const { channelId } = setting.workspace;
    await vi.waitFor(() => expect(threadOf(setting, 'shop')).not.toBe(''), WAIT);
    await setting.answer(threadOf(setting, 'shop'), /waiting/);
    await setting.say(channelId, '!stop-session shop');
    await setting.answer(channelId, /^⏹️ `shop` was ended/);
    writeFileSync(go, '');
    await vi.waitFor(() => expect(repo.branches()).toEqual(['main']), { ...WAIT, timeout: 40_000 });
    await setting.restart();
    await aWhile(1_500);
    expect(starts('shop')).toBe(0);
    expect(() => sessionsOf(setting.machine.tmux)).toThrow();
  });

  it('starts in its own directory, inside its project, also if a user starts it', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'docs'));
    const sessions = [{ name: 'docs', start: 'manual', directory: 'docs' }];
    const { setting, untilStarts } = await startDeclared([], {
      servers: (own) => [
        {
          ...own,
          onlyProjects: true,
          projects: [projectEntry({ path: folder, channel: own.channel, sessions, talk: 'docs' })],
        },
      ],
    });
    const { channelId } = setting.workspace;
    const at = () => setting.machine.tmux.call('display-message', '-p', '-t', '=docs:', '#{pane_current_path}');
    for (const [count, text] of ['!new docs', '!start docs', 'hello'].entries()) {
      await setting.say(channelId, text);
      await untilStarts('docs', count + 1);
      expect([text, at()]).toEqual([text, join(realpathSync(folder), 'docs')]);
      await vi.waitFor(() => expect(setting.shared.threads.registry.get(channelId)?.closed).toBe(false), WAIT);
      await setting.say(channelId, '!kill docs');
      await vi.waitFor(() => expect(() => at()).toThrow(), WAIT);
      setting.shared.threads.registry.forget(channelId); // so that nothing is remembered of it
    }
  });

  it('is listed by !sessions while it does not run, with the command that starts it', async () => {
    const { setting, starts } = await startDeclared([{ name: 'shop', start: 'manual' }]);
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!sessions');
    await setting.answer(channelId, /^⏹️ `shop` not started · `!start shop`/);
    expect(starts('shop')).toBe(0);
  });
});
