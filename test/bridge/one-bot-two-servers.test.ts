// One bot that is on two Discord servers: one connection, and each server hears only what happens there.

import { describe, expect, it, vi } from 'vitest';
import type { ServerConfig } from '../../core/config.ts';
import { localServer } from '../../home/config-file.ts';
import { saveAutoThreads } from '../../home/installed.ts';
import { startFakeClaude } from '../support/fake-claude.ts';
import { threadNames } from '../support/hook-process.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTwoGuilds } from '../support/two-guilds.ts';
import type { TestWorkspace, WireMessage } from '../support/workspace.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { aWhile, reconcile, startSetting, WAIT } from './bridge-setup.ts';

async function start(names: readonly ('home' | 'work' | 'across')[]) {
  const guilds = await startTwoGuilds();
  const project = tempFolder();
  const serverAt = ({ token, channelId: channel, userId: user }: TestWorkspace, name: string): ServerConfig => ({
    ...localServer({ api: guilds.api, token, channel, user }),
    name,
  });
  const all = {
    home: serverAt(guilds.home, 'home'),
    work: {
      ...serverAt(guilds.work, 'work'),
      projects: [{ path: project, channel: guilds.work.channelId }],
      onlyProjects: true,
    },
    /** One entry of the configuration, with the channel of a project on the other server. */
    across: { ...serverAt(guilds.home, 'across'), projects: [{ path: project, channel: guilds.work.channelId }] },
  };
  const setting = await startSetting({ servers: () => names.map((name) => all[name]) });
  saveAutoThreads(setting.machine.home, true);
  const claude = async (session: string, dir: string) => {
    const { tmux, env } = setting.machine;
    const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
    tmux.call('new-session', '-d', '-s', session, '-c', dir, '-x', '120', '-y', '40', ...variables, 'sh');
    return startFakeClaude(setting.machine, session, { again: true });
  };
  const marks = async ({ person }: TestWorkspace, channel: string, id: string): Promise<readonly string[]> => {
    const { body } = await person.call('GET', `/channels/${channel}/messages/${id}`);
    return (body.reactions ?? []).map((one: { emoji: { name: string } }) => one.emoji.name);
  };
  return { ...guilds, setting, project, claude, marks };
}

describe('one bot on two servers', () => {
  it('has one connection, and answers each message, command and tap once, where it was made', async () => {
    const { home, work, setting, project, claude, marks, connections } = await start(['home', 'work']);
    expect(connections()).toBe(1);
    const agents = [
      { guild: home, agent: await claude('notes', setting.machine.tmux.dir) },
      { guild: work, agent: await claude('shop', project) },
    ];
    expect([await threadNames(home), await threadNames(work)]).toEqual([['[agent] notes'], ['[agent] shop']]);
    for (const { guild, agent } of agents) {
      const { person, botId } = guild;
      const { id } = await person.say(agent.thread, 'hello');
      await vi.waitFor(async () => expect(await marks(guild, agent.thread, id)).toEqual(['✅']), WAIT);
      expect(agent.prompts()).toEqual(['hello']);

      const page = await openPageSocket(guild);
      const ownAnswers = async () => (await person.messages(agent.thread)).filter(({ author }) => author.id === botId);
      const shownIn = async () => (await ownAnswers()).filter(({ content }) => content.includes('Stand-in'));
      await person.slash(agent.thread, 'screen');
      const [shown] = await vi.waitFor(async () => {
        const found = await shownIn();
        expect(found).toHaveLength(1);
        return found as [WireMessage];
      }, WAIT);
      await person.tap(agent.thread, shown.id, buttonOf(shown, 'Esc'));
      await vi.waitFor(() => expect(agent.noted().filter(({ kind }) => kind === 'key')).toHaveLength(1), WAIT);
      await aWhile();
      expect(await shownIn()).toHaveLength(1);
      expect(page.heard.filter(({ d }) => d?.content?.includes('not allowed'))).toEqual([]);
    }
    expect(connections()).toBe(1);
  });

  it.each([
    ['two entries', ['home', 'work']],
    ['one entry', ['across']],
  ] as const)('keeps the threads of both open when it connects again (%s)', async (_, names) => {
    const { home, work, setting, project, claude } = await start(names);
    await claude('notes', setting.machine.tmux.dir);
    await claude('shop', project);
    await vi.waitFor(() => expect(setting.machine.letters()).toEqual([]), WAIT);
    await setting.restart();
    await reconcile(setting);
    const { registry } = setting.shared.threads;
    expect(
      registry
        .all()
        .map(({ title, archived }) => [title, archived])
        .toSorted(),
    ).toEqual([
      ['[agent] notes', 'no'],
      ['[agent] shop', 'no'],
    ]);
    expect([await threadNames(home), await threadNames(work)]).toEqual([['[agent] notes'], ['[agent] shop']]);
  });
});

describe('a bot that is also on a server that is not configured', () => {
  it('keeps its threads open, and is silent there', async () => {
    const { home, work, setting, claude } = await start(['home']);
    const agent = await claude('notes', setting.machine.tmux.dir);
    await vi.waitFor(() => expect(setting.machine.letters()).toEqual([]), WAIT);
    await setting.restart();
    await reconcile(setting);
    expect(setting.shared.threads.registry.get(agent.thread)?.archived).toBe('no');
    expect(await threadNames(home)).toEqual(['[agent] notes']);
    const page = await openPageSocket(work);
    await work.person.say(work.channelId, '!sessions');
    await work.person.say(work.channelId, 'hello');
    await aWhile(1_500);
    const said = page.heard.filter(({ t, d }) => t === 'MESSAGE_CREATE' && d.author.id === work.botId);
    expect(said).toEqual([]);
  });
});
