// A thread that a listed user creates by hand gets a session, once, with its first message as the prompt.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { configuredNames, newName, projectFor } from '../../bridge/adopted-name.ts';
import { type Project, projectsOf } from '../../core/project.ts';
import type { Faults } from '../support/as-discord.mjs';
import { threadNames } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, reconcile, type Setting, WAIT } from './bridge-setup.ts';
import { projectEntry, startProject } from './project-setup.ts';

async function createThread({ workspace }: Setting, name: string): Promise<string> {
  const path = `/channels/${workspace.channelId}/threads`;
  return (await workspace.person.call('POST', path, { name, type: 11 })).body.id;
}

const sessions = ({ machine }: Setting) => {
  try {
    return machine.tmux.call('list-sessions', '-F', '#{session_name}').split('\n').filter(Boolean);
  } catch {
    return []; // no server
  }
};

describe('a thread that a user creates by hand', () => {
  it('gets a session of its name, with its first message as the prompt, and is renamed', async () => {
    const { setting, claude, path, starts, read } = await startProject({ threadsStart: true });
    const thread = await createThread(setting, 'Fix the login!');
    await aWhile();
    expect(sessions(setting)).toEqual([]);
    const first = await setting.say(thread, 'the button does nothing');
    const second = await setting.say(thread, 'on a phone');
    await setting.untilMarked(first, '✅');
    await setting.untilMarked(second, '✅');
    expect([claude.prompts(), starts(), read('pwd')]).toEqual([['the button does nothing', 'on a phone'], 1, path]);
    await setting.answer(thread, /on a phone/);
    await vi.waitFor(async () => expect(await threadNames(setting.workspace)).toEqual(['[agent] Fix-the-login']), WAIT);
    expect(sessions(setting)).toEqual(['Fix-the-login']);
    await setting.restart();
    await reconcile(setting);
    await setting.untilMarked(await setting.say(thread, 'still there?'), '✅');
    await setting.say(thread, '!kill Fix-the-login');
    await setting.answer(thread, /Ended by/);
    await setting.say(setting.workspace.channelId, '!new Fix-the-login');
    await setting.answer(setting.workspace.channelId, new RegExp(`is up.*<#${thread}>`));
    expect(await threadNames(setting.workspace)).toEqual(['[agent] Fix-the-login']);
  });

  it('is used again by the next session of its name, also if the end of the last one is not noted yet', async () => {
    const { setting, channelId } = await startProject({ threadsStart: true });
    const thread = await createThread(setting, 'login');
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
    await setting.say(thread, '!kill login');
    await setting.answer(thread, /Ended by/);
    const { registry } = setting.shared.threads;
    await vi.waitFor(() => expect(registry.get(thread)).toMatchObject({ closed: true, archived: 'us' }), WAIT);
    registry.change(thread, { closed: false });
    await setting.say(channelId, '!new login');
    await setting.answer(channelId, new RegExp(`is up.*<#${thread}>`));
  });

  it('from a message starts with that message, which keeps its marks in the channel', async () => {
    const { setting, claude, channelId } = await startProject({ threadsStart: true });
    const message = await setting.say(channelId, 'the login is broken');
    const { id } = await setting.workspace.person.startThread(channelId, message.id, 'login');
    const next = await setting.say(id, 'since yesterday');
    await setting.untilMarked(next, '✅');
    expect(claude.prompts()).toEqual(['the login is broken', 'since yesterday']);
    await vi.waitFor(async () => expect(await setting.marks(message)).toContain('✅'), WAIT);
    await setting.answer(id, /since yesterday/);
    // The message may be days old: what counts is when the thread was created from it.
    const [first] = setting.shared.threads.registry.get(id)?.deliveries ?? [];
    expect(first).toMatchObject({ message: message.id, id: expect.not.stringMatching(message.id) });
  });

  it('from a command or from a message of the bot waits for the first message in it', async () => {
    const { setting, claude, channelId } = await startProject({ threadsStart: true });
    await setting.say(channelId, '!help');
    const help = await setting.answer(channelId, /!new/);
    const { id } = await setting.workspace.person.startThread(channelId, help.id, 'help me');
    await aWhile();
    expect(sessions(setting)).toEqual([]);
    await setting.untilMarked(await setting.say(id, 'hello'), '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });

  it('that the bot may no longer read does not stop the next start of the bridge', async () => {
    let isRefused = false;
    let refusals = 0;
    const faults: Faults = {
      onRequest({ method, path }) {
        if (!isRefused || method !== 'GET' || !/\/channels\/\d+\/messages/.test(path)) return undefined;
        if (refusals++ > 2) isRefused = false; // only the first reads: those of the start
        return { kind: 'answer', status: 403, body: { code: 50001, message: 'Missing Access' } };
      },
    };
    const { setting, claude } = await startProject({ threadsStart: true }, { faults });
    const thread = await createThread(setting, 'login');
    await vi.waitFor(() => expect(setting.shared.threads.registry.get(thread)).toBeDefined(), WAIT);
    await setting.stop();
    setting.shared.threads.registry.change(thread, { adopted: 'new' });
    isRefused = true;
    await setting.restart();
    expect(refusals).toBeGreaterThan(0);
    isRefused = false;
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });

  it('that could not start is told in the channel, and Retry there starts it', async () => {
    const { setting, claude, channelId, folder } = await startProject({ threadsStart: true });
    const works = readFileSync(`${folder}/claude`, 'utf8');
    writeFileSync(`${folder}/claude`, '#!/bin/sh\necho no licence; exit 3\n');
    const message = await setting.say(channelId, 'the login is broken');
    const { id } = await setting.workspace.person.startThread(channelId, message.id, 'login');
    const notice = await setting.answer(channelId, /Not delivered.*`login`.*no licence/s);
    writeFileSync(`${folder}/claude`, works);
    await setting.workspace.person.tap(channelId, notice.id, `retry:${message.id}`);
    await vi.waitFor(async () => expect(await setting.marks(message)).toContain('✅'), WAIT);
    expect(claude.prompts()).toEqual(['the login is broken']);
    await setting.answer(id, /the login is broken/);
    expect(await threadNames(setting.workspace)).toEqual(['[agent] login']);
  });

  it('while the bridge was down is found at the next start; older ones are left alone', async () => {
    const { setting, claude, channelId, starts } = await startProject({ threadsStart: false });
    await createThread(setting, 'old');
    await aWhile();
    await setting.stop();
    const message = await setting.say(channelId, 'from before');
    const { id } = await setting.workspace.person.startThread(channelId, message.id, 'new');
    const inside = await setting.say(id, 'and this');
    Object.assign(setting.shared.connections.all()[0]?.server.projects[0] ?? {}, { threadsStart: true });
    rmSync(setting.machine.home.path('state', 'local.gateway.json')); // too long ago to resume
    await setting.restart();
    await setting.untilMarked(inside, '✅');
    expect([claude.prompts(), starts(), sessions(setting)]).toEqual([['from before', 'and this'], 1, ['new']]);
    expect(await threadNames(setting.workspace)).toEqual(['[agent] new', 'old']);
    expect(setting.shared.threads.registry.all().map(({ sessionName }) => sessionName)).toEqual(['new']);
  });

  it('of a stranger, or without "threadsStart", is ignored', async () => {
    for (const [keys, allow] of [
      [{ threadsStart: true }, ['123456789012345678']],
      [{}, undefined],
    ] as const) {
      const { setting } = await startProject(keys, allow === undefined ? {} : { allow });
      const thread = await createThread(setting, 'mine');
      const message = await setting.say(thread, 'hello');
      await aWhile();
      expect([sessions(setting), await setting.marks(message)]).toEqual([[], []]);
      expect(await threadNames(setting.workspace)).toEqual(['mine']);
      expect(setting.shared.threads.registry.all()).toEqual([]);
    }
  });

  it('gets another name if a session elsewhere has it', async () => {
    const { setting, claude } = await startProject({ threadsStart: true });
    setting.machine.tmux.call('new-session', '-d', '-s', 'web', '-c', tempFolder(), 'cat');
    const thread = await createThread(setting, 'web');
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
    expect([claude.prompts(), sessions(setting).toSorted()]).toEqual([['hello'], ['web', 'web-2']]);
    await vi.waitFor(async () => expect(await threadNames(setting.workspace)).toContain('[agent] web-2'), WAIT);
  });
});

describe('the session of such a thread', () => {
  it.each([
    ['Fix the login!', 'Fix-the-login'],
    ['[agent] web', 'web-3'],
    ['web', 'web-3'],
    ['Überprüfe: Größe', 'Uberprufe-Gro-e'],
    ['日本語', 'thread'],
    ['-- $(rm)', 'rm'],
    ['x'.repeat(100), 'x'.repeat(32)],
  ])('%s is called %s', (title, name) => {
    const taken = ['web', 'web-2'].map((sessionName) => ({ sessionName, host: 'laptop' }));
    expect(newName(title, 'laptop', [...taken, { sessionName: 'thread', host: 'mini' }])).toBe(name);
  });

  it('never has the name of a declared session, or of one that a channel talks to', () => {
    const sessions = [{ name: 'api', start: 'manual' }] as const;
    const names = configuredNames([{ sessions, talk: 'shop' }]);
    expect(['api', 'shop', 'web'].map((title) => newName(title, 'laptop', [], names))).toEqual([
      'api-2',
      'shop-2',
      'web',
    ]);
  });

  it('belongs to the project that its title names, otherwise to the first one of the channel', () => {
    const projects: readonly Project[] = projectsOf({ threadsStart: true, progress: 'normal' } as never, [
      {
        name: 'local',
        api: '',
        token: '',
        channel: 'c',
        allow: [],
        onlyProjects: false,
        projects: ['/shop', '/site'].map((path) => projectEntry({ path, channel: 'c' })),
      },
    ]);
    const named = (title: string, channel = 'c') => projectFor({ title, channel }, projects)?.path;
    expect([named('fix'), named('site: fix'), named('other: fix'), named('fix', 'd')]).toEqual([
      '/shop',
      '/site',
      '/shop',
      undefined,
    ]);
  });
});
