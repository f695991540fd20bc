// Where sessions have their thread: with projects, `onlyProjects` and two servers. Each has exactly one, in its place; one
// that belongs nowhere appears nowhere.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { ServerConfig } from '../../core/config.ts';
import { localServer } from '../../home/config-file.ts';
import { saveAutoThreads } from '../../home/installed.ts';
import { addressOf, openSuggestions, reconcile, type Setting, startSetting, WAIT } from '../bridge/bridge-setup.ts';
import { FAKE_CLAUDE, startFakeClaude } from '../support/fake-claude.ts';
import { DROP, threadNames, threadsOf } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';

interface Two {
  readonly setting: Setting;
  readonly work: TestWorkspace;
  /** Belongs to the server `work`. */
  readonly project: string;
  /** Belongs to no project. */
  readonly outside: string;
}

/** The test's own workspace, and another one that takes one project only. */
async function startTwo(own: Partial<ServerConfig> = {}): Promise<Two> {
  const work = await startTestWorkspace();
  const [project, outside] = [tempFolder(), tempFolder()];
  const atWork: ServerConfig = {
    ...localServer(addressOf(work)),
    name: 'work',
    projects: [{ path: project, channel: work.channelId }],
    onlyProjects: true,
  };
  const agents = { claude: { command: [process.execPath, FAKE_CLAUDE, tempFolder(), DROP] } };
  const setting = await startSetting({ file: { agents }, servers: (home) => [{ ...home, ...own }, atWork] });
  saveAutoThreads(setting.machine.home, true);
  return { setting, work, project, outside };
}

const until = ({ setting, work }: Two, atHome: readonly string[], atWork: readonly string[]) =>
  vi.waitFor(
    async () => expect([await threadNames(setting.workspace), await threadNames(work)]).toEqual([atHome, atWork]),
    WAIT,
  );

function byHand({ setting }: Two, name: string, dir: string): void {
  const { tmux, env } = setting.machine;
  const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  tmux.call('new-session', '-d', '-s', name, '-c', dir, ...variables, 'sh');
}

async function everythingSaid(workspace: TestWorkspace): Promise<string> {
  const all = (await threadsOf(workspace)).map(({ id }) => id);
  const messages = await Promise.all([workspace.channelId, ...all].map((id) => workspace.person.messages(id)));
  return JSON.stringify([await threadsOf(workspace), messages.flat()]);
}

describe('a session of a project', () => {
  it('made by hand has one thread, on the server of the project, and keeps it', async () => {
    const two = await startTwo();
    byHand(two, 'shop', two.project);
    byHand(two, 'notes', two.outside);
    await reconcile(two.setting);
    await until(two, ['[agent] notes'], ['[agent] shop']);
    const claude = await startFakeClaude(two.setting.machine, 'shop', { again: true });
    two.setting.machine.tmux.call('rename-session', '-t', '=shop', 'store');
    await reconcile(two.setting);
    await until(two, ['[agent] notes'], ['[agent] store']);
    await two.setting.restart();
    await reconcile(two.setting);
    await until(two, ['[agent] notes'], ['[agent] store']);
    const message = await two.work.person.say(claude.thread, 'hello');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['hello']), WAIT);
    expect(message.channel_id).toBe(claude.thread);
    two.setting.machine.tmux.call('kill-session', '-t', '=store');
    await reconcile(two.setting);
    await until(two, ['[agent] notes'], ['([agent] store)']);
    byHand(two, 'store', two.project);
    await reconcile(two.setting);
    await until(two, ['[agent] notes'], ['[agent] store']);
  });

  it('started again under the same name elsewhere gets a thread there', async () => {
    const two = await startTwo();
    byHand(two, 'keeper', two.outside);
    byHand(two, 'shop', two.project);
    await reconcile(two.setting);
    await until(two, ['[agent] keeper'], ['[agent] shop']);
    two.setting.machine.tmux.call('kill-session', '-t', '=shop');
    byHand(two, 'shop', two.outside);
    await reconcile(two.setting);
    await until(two, ['[agent] keeper', '[agent] shop'], ['([agent] shop)']);
  });

  it('that takes the name of a renamed one gets a thread of its own', async () => {
    const two = await startTwo();
    byHand(two, 'shop', two.outside);
    const first = await startFakeClaude(two.setting.machine, 'shop', { again: true });
    two.setting.machine.tmux.call('rename-session', '-t', '=shop', 'old-shop');
    byHand(two, 'shop', two.outside);
    const second = await startFakeClaude(two.setting.machine, 'shop', { again: true });
    expect(second.thread).not.toBe(first.thread);
    await reconcile(two.setting);
    await until(two, ['[agent] old-shop', '[agent] shop'], []);
  });

  it('created by !new has a thread only on the server of the project, with and without an agent', async () => {
    const two = await startTwo();
    const { setting, work, project } = two;
    await work.person.say(work.channelId, `!new shop ${project}`);
    await until(two, [], ['[agent] shop']);
    await work.person.say(work.channelId, `!new ops ${project} -- sh`);
    await until(two, [], ['[agent] ops', '[agent] shop']);
    await reconcile(two.setting);
    await until(two, [], ['[agent] ops', '[agent] shop']);
    const { channelId } = setting.workspace;
    const [program, ran] = [join(project, 'program'), join(project, 'ran')];
    writeFileSync(program, `touch ${ran}; exec sh`);
    await setting.say(channelId, `!new other ${project} -- sh ${program}`);
    await setting.answer(channelId, /^⚠️ `other` was not started, because no channel of this server/);
    expect(existsSync(ran)).toBe(false);
    await setting.say(channelId, '!kill ops');
    await setting.answer(channelId, /There is no session `ops`/);
    await work.person.say(work.channelId, '!kill ops');
    await until(two, [], ['([agent] ops)', '[agent] shop']);
  });

  it('moves with its Claude, with one note in its old thread', async () => {
    const two = await startTwo();
    byHand(two, 'shop', two.outside);
    await reconcile(two.setting);
    await until(two, ['[agent] shop'], []);
    const [left] = await threadsOf(two.setting.workspace);
    two.setting.machine.tmux.call('send-keys', '-t', '=shop:', `cd ${two.project}`, 'Enter');
    const claude = await startFakeClaude(two.setting.machine, 'shop', { again: true });
    await until(two, ['([agent] shop)'], ['[agent] shop']);
    await reconcile(two.setting);
    await two.setting.restart();
    await reconcile(two.setting);
    await until(two, ['([agent] shop)'], ['[agent] shop']);
    const notes = await two.setting.answers(left?.id ?? '');
    expect(notes.filter(({ content }) => content.includes('continues'))).toHaveLength(1);
    await two.work.person.say(claude.thread, 'hello');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['hello']), WAIT);
  });
});

describe('a session that belongs nowhere', () => {
  it('appears nowhere: no thread, no list, no suggestion, and no command can end it', async () => {
    const two = await startTwo({ onlyProjects: true });
    const { setting, work } = two;
    const { channelId, person } = setting.workspace;
    byHand(two, 'secret', two.outside);
    byHand(two, 'shop', two.project);
    await reconcile(two.setting);
    await until(two, [], ['[agent] shop']);
    setting.machine.tmux.call(
      ...['send-keys', '-t', '=secret:', `${process.execPath} ${FAKE_CLAUDE} ${tempFolder()} ${DROP}`],
      'Enter',
    );
    await vi.waitFor(
      () => expect(setting.machine.tmux.call('capture-pane', '-p', '-t', '=secret:')).toContain('Stand-in'),
      WAIT,
    );
    setting.machine.tmux.call('rename-session', '-t', '=secret', 'secret-two');
    await reconcile(two.setting);
    for (const [who, channel] of [
      [person, channelId],
      [work.person, work.channelId],
    ] as const) {
      await who.say(channel, '!sessions');
      await who.say(channel, '!kill nobody');
    }
    await setting.answer(channelId, /There is no session `nobody`/);
    await setting.answer(channelId, /No sessions/);
    const suggest = await openSuggestions(setting);
    expect(await suggest('kill', 'name', '')).toEqual([]);
    await vi.waitFor(async () => expect(await everythingSaid(work)).toContain('nobody'), WAIT);
    await setting.restart();
    await reconcile(two.setting);
    for (const workspace of [setting.workspace, work]) expect(await everythingSaid(workspace)).not.toContain('secret');
    await setting.say(channelId, '!kill secret-two');
    await setting.answer(channelId, /There is no session `secret-two`/);
    expect(setting.machine.tmux.call('list-sessions', '-F', '#S')).toContain('secret-two');
    await until(two, [], ['[agent] shop']);
  });
});
