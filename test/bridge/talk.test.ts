// A channel that talks to a session: what is written there is typed, the session is started if it is not there, and it
// answers in the channel.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { type PaneEnv, threadNames } from '../support/hook-process.ts';
import { buttonOf, decisionIn, promptIn, startHook, startPromptPane } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, reconcile, type Setting, startSetting, WAIT } from './bridge-setup.ts';
import { startProject } from './project-setup.ts';

const record = ({ shared }: Setting, id: string) => shared.threads.registry.get(id);

describe('a channel that talks to a session', () => {
  it('starts it with the first message, in the directory and with the defaults of the project, and shows its replies', async () => {
    const { setting, claude, channelId, path, starts, read } = await startProject({
      talk: 'main',
      defaults: { model: 'opus' },
    });
    const first = await setting.say(channelId, 'hello');
    const second = await setting.say(channelId, 'and more');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['hello', 'and more']), WAIT);
    await setting.untilMarked(first, '✅');
    await setting.untilMarked(second, '✅');
    await setting.answer(channelId, /hello/);
    expect(starts()).toBe(1);
    expect([read('pwd'), read('args')]).toEqual([path, expect.stringContaining('--model\nopus')]);
    expect(await threadNames(setting.workspace)).toEqual([]);
    expect(record(setting, channelId)).toMatchObject({ inChannel: true, sessionName: 'main', closed: false });
    await setting.say(channelId, '!screen');
    await setting.answer(channelId, /```.*and more/s);
    await setting.say(channelId, '!kill main');
    await setting.answer(channelId, /Ended by/);
    await setting.untilMarked(await setting.say(channelId, 'again'), '✅');
    expect([starts(), claude.prompts().at(-1)]).toEqual([2, 'again']);
    const said = (await setting.answers(channelId)).map(({ content }) => content);
    expect(said.filter((text) => /is being started|waits/.test(text))).toEqual([]);
  });

  it('gives a declared session that a message starts its prompt first, once', async () => {
    const { setting, claude, channelId } = await startProject({
      talk: 'main',
      sessions: [{ name: 'main', start: 'manual', prompt: 'read NOTES.md' }],
    });
    const message = await setting.say(channelId, 'hello');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['read NOTES.md', 'hello']), WAIT);
    await setting.untilMarked(message, '✅');
    const prompt = await setting.answer(channelId, /^read NOTES\.md$/);
    await setting.untilMarked(prompt, '✅');
    await setting.restart();
    await aWhile(1_500);
    expect(claude.prompts()).toEqual(['read NOTES.md', 'hello']);
  });

  it('starts the session for a scheduled message, too', async () => {
    const { setting, claude, channelId, starts } = await startProject({ talk: 'main' });
    await setting.untilMarked(await setting.say(channelId, 'hello'), '✅');
    await setting.say(channelId, '!at +2s look at the log');
    await setting.answer(channelId, /^⏰ Scheduled/);
    await setting.say(channelId, '!kill main');
    await vi.waitFor(() => expect(record(setting, channelId)?.closed).toBe(true), WAIT);
    const message = await setting.answer(channelId, /^look at the log\n-# ⏰/);
    await setting.untilMarked(message, '✅');
    expect([starts(), claude.prompts().at(-1)]).toEqual([2, 'look at the log']);
  });

  it('says why the session could not be started, and Retry tries it again', async () => {
    const { setting, claude, channelId, folder } = await startProject({ talk: 'main' });
    const program = join(folder, 'claude');
    const works = readFileSync(program, 'utf8');
    writeFileSync(program, '#!/bin/sh\necho no licence; exit 3\n');
    const message = await setting.say(channelId, 'hello');
    const notice = await setting.answer(channelId, /⚠️ Not delivered.*`main`.*no licence/s);
    await setting.untilMarked(message, '⚠️');
    expect(await threadNames(setting.workspace)).toEqual([]);
    writeFileSync(program, works);
    await setting.workspace.person.tap(channelId, notice.id, `retry:${message.id}`);
    await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });

  it('does not take a session of this name that belongs elsewhere', async () => {
    const { setting, channelId } = await startProject({ talk: 'main' });
    setting.machine.tmux.call('new-session', '-d', '-s', 'main', '-c', tempFolder(), 'cat');
    const message = await setting.say(channelId, 'hello');
    await setting.answer(channelId, /Not delivered. A session `main` runs, but it does not belong to this project/);
    await setting.untilMarked(message, '⚠️');
    expect(setting.shared.threads.registry.all()).toEqual([]);
  });

  it('types nothing that a stranger writes', async () => {
    const { setting, channelId } = await startProject({ talk: 'main' }, { allow: ['123456789012345678'] });
    const message = await setting.say(channelId, 'hello');
    await aWhile();
    expect(await setting.marks(message)).toEqual([]);
    expect(setting.shared.threads.registry.all()).toEqual([]);
  });

  it('takes the session over from its thread, and gives it back, when the configuration changes', async () => {
    const { setting, claude, channelId, path, change, starts } = await startProject({});
    await setting.say(channelId, `!new main ${path}`);
    await setting.answer(channelId, /`main` is up/);
    const [old] = setting.shared.threads.registry.all();
    change({ talk: 'main' });
    await setting.answer(old?.thread ?? '', new RegExp(`continues in <#${channelId}>`));
    await vi.waitFor(async () => expect(await threadNames(setting.workspace)).toEqual(['([agent] main)']), WAIT);
    await setting.untilMarked(await setting.say(channelId, 'in the channel'), '✅');
    await setting.answer(channelId, /in the channel/);
    change({});
    await setting.answer(channelId, /continues in <#\d+>/);
    await vi.waitFor(async () => expect(await threadNames(setting.workspace)).toEqual(['[agent] main']), WAIT);
    await setting.untilMarked(await setting.say(old?.thread ?? '', 'in the thread'), '✅');
    await setting.answer(old?.thread ?? '', /in the thread/);
    expect([starts(), claude.prompts()]).toEqual([1, ['in the channel', 'in the thread']]);
  });

  it('can talk to another session: the one before gets a thread', async () => {
    const { setting, channelId, path, change } = await startProject({ talk: 'main' });
    await setting.untilMarked(await setting.say(channelId, 'hello'), '✅');
    const { tmux } = setting.machine;
    tmux.call('new-session', '-d', '-s', 'second', '-c', path, 'cat');
    change({ talk: 'second' });
    await vi.waitFor(async () => expect(await threadNames(setting.workspace)).toEqual(['[agent] main']), WAIT);
    await vi.waitFor(() => expect(record(setting, channelId)?.closed).toBe(true), WAIT);
    tmux.call('rename-session', '-t', '=main', 'third');
    await reconcile(setting);
    await vi.waitFor(async () => expect(await threadNames(setting.workspace)).toEqual(['[agent] third']), WAIT);
  });

  it('starts it after a restart of the bridge, once, when a message waited', async () => {
    const { setting, claude, channelId, starts } = await startProject({ talk: 'main' });
    await setting.stop();
    const messages = [await setting.say(channelId, 'one'), await setting.say(channelId, 'two')];
    await setting.restart();
    for (const message of messages) await setting.untilMarked(message, '✅');
    expect([starts(), claude.prompts()]).toEqual([1, ['one', 'two']]);
    await setting.restart();
    await reconcile(setting);
    await setting.shared.threads.heardActive([channelId], new Set()); // what a new connection tells: only threads
    expect(record(setting, channelId)).toMatchObject({ inChannel: true, archived: 'no', closed: false });
    expect(await threadNames(setting.workspace)).toEqual([]);
  });

  it('shows its prompts, which are answered there', async () => {
    const setting = await startSetting({ file: { talk: 'web' } });
    const { workspace, machine } = setting;
    const { channelId } = workspace;
    const report = async (env: object, input: object) => void machine.drop(env as PaneEnv, input);
    const pane = await startPromptPane(machine, 'web', { report });
    expect(pane.thread).toBe(channelId);
    await pane.show('dialog-permission-bash');
    const hook = startHook(machine, pane, pane.input('Bash'));
    const prompt = await promptIn(workspace, channelId);
    await workspace.person.tap(channelId, prompt.id, buttonOf(prompt, 'Allow'));
    expect(decisionIn(await hook.printed)).toMatchObject({ behavior: 'allow' });
    expect(await threadNames(workspace)).toEqual([]);
  });

  it('passes on a file with a text', async () => {
    const { setting, claude, channelId } = await startProject({ talk: 'main' });
    const files = [{ name: 'notes.txt', data: 'hello' }];
    await setting.workspace.person.say(channelId, 'read this', { files });
    await vi.waitFor(() => expect(claude.prompts()).toEqual([expect.stringMatching(/read this.*notes\.txt/s)]), WAIT);
  });
});
