// Declared sessions while config.json changes, and while two bridges use one host.

import { describe, expect, it, vi } from 'vitest';
import { buttonOf } from '../../support/prompt-pane.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace } from '../../support/workspace.ts';
import { addressOf, aWhile, type Setting, startSetting, WAIT } from '../bridge-setup.ts';
import { projectEntry } from '../project-setup.ts';
import { startFarHost } from '../remote-host.ts';
import { declaredAgent, sessionsOf, startDeclared, watchStarts } from './declared-setup.ts';

const pidOf = ({ machine }: Setting, session: string) =>
  Number(machine.tmux.call('display-message', '-p', '-t', `=${session}:`, '#{pane_pid}'));

describe('a change of the configuration', () => {
  it('starts a session that it declares, and one that is no longer manual', async () => {
    const { setting, declare, untilStarts, starts, agent } = await startDeclared([{ name: 'shop', start: 'manual' }], {
      live: true,
    });
    declare([
      { name: 'shop', start: 'manual' },
      { name: 'web', prompt: 'begin' },
    ]);
    await untilStarts('web', 1);
    await vi.waitFor(() => expect(agent('web').prompts()).toEqual(['begin']), WAIT);
    await setting.answer(setting.workspace.channelId, /^⚙️ config\.json has changed\. `sessions` took effect\.$/);
    expect(starts('shop')).toBe(0);
    declare([{ name: 'shop' }, { name: 'web', prompt: 'begin' }]);
    await untilStarts('shop', 1);
    await aWhile(1_000);
    expect([starts('web'), agent('web').prompts()]).toEqual([1, ['begin']]);
  });

  it('leaves a session running that it no longer declares, and does not start it again', async () => {
    const { setting, declare, untilStarts, starts } = await startDeclared([{ name: 'shop' }, { name: 'web' }], {
      live: true,
    });
    await Promise.all([untilStarts('shop', 1), untilStarts('web', 1)]);
    declare([{ name: 'web' }]);
    const kept = () => setting.machine.tmux.call('show-options', '-p', '-v', '-t', '=shop:', 'remain-on-exit');
    await vi.waitFor(() => expect(kept()).not.toBe('on'), WAIT);
    expect(sessionsOf(setting.machine.tmux)).toEqual(['shop', 'web']);
    process.kill(pidOf(setting, 'shop'), 'SIGKILL');
    await vi.waitFor(() => expect(sessionsOf(setting.machine.tmux)).toEqual(['web']), WAIT);
    await aWhile(1_500);
    expect(starts('shop')).toBe(1);
    // What is still declared is watched as before.
    process.kill(pidOf(setting, 'web'), 'SIGKILL');
    await untilStarts('web', 2);
  });

  it('with a mistake is told with its key, and changes nothing', async () => {
    const { setting, declare, untilStarts, starts } = await startDeclared([{ name: 'shop' }], { live: true });
    await untilStarts('shop', 1);
    declare([{ name: 'web', start: 'sometimes' }]);
    const said = await setting.answer(setting.workspace.channelId, /^⚠️ config\.json has a mistake/);
    expect(said.content).toMatch(/sessions\\\[0\\\]\.start must be "auto" or "manual"/);
    expect(starts('web')).toBe(0);
    process.kill(pidOf(setting, 'shop'), 'SIGKILL');
    await untilStarts('shop', 2);
  });

  it('counts at the next start: prompt and model', async () => {
    const { setting, declare, untilStarts, agent } = await startDeclared([{ name: 'shop', prompt: 'first' }], {
      live: true,
    });
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['first']), WAIT);
    declare([{ name: 'shop', prompt: 'second', model: 'haiku' }]);
    await setting.answer(setting.workspace.channelId, /`sessions` took effect/);
    process.kill(pidOf(setting, 'shop'), 'SIGKILL');
    await untilStarts('shop', 2);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['first', 'second']), WAIT);
  });
});

describe('two bridges', () => {
  it('that declare one session on one host have one, which gets its prompt once', async () => {
    const host = await startFarHost('far');
    const { tmux } = host.place;
    const folder = tempFolder();
    const ours = `${host.ssh.home}/.threadmux/for/laptop`;
    const program = declaredAgent(
      folder,
      () => ours,
      () => `${ours}/bin/drop`,
    );
    const hosts = { far: { ssh: 'far', socket: tmux.socket } };
    const project = { path: '~', host: 'far', sessions: [{ name: 'shop', prompt: 'begin' }] };
    const begin = (name: string) =>
      startSetting({
        name,
        sshConfig: host.ssh.configFile,
        file: { agents: { claude: { command: [program] } }, hosts },
        startAgainMs: [200, 200, 200, 200],
        servers: (own) => [{ ...own, projects: [projectEntry({ ...project, channel: own.channel })] }],
      });
    const { starts, untilStarts, agent } = watchStarts(folder);
    const laptop = await begin('laptop');
    await untilStarts('shop', 1);
    const desk = await begin('desk');
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin']), WAIT);
    for (const { shared } of [laptop, desk])
      await vi.waitFor(() => expect(shared.threads.registry.all().map((one) => one.sessionName)).toEqual(['shop']), {
        ...WAIT,
        timeout: 40_000,
      });
    await aWhile(3_000);
    expect([starts('shop'), sessionsOf(tmux), agent('shop').prompts()]).toEqual([1, ['shop'], ['begin']]);

    // Both notice the crash, and one of them starts it.
    process.kill(Number(tmux.call('display-message', '-p', '-t', '=shop:', '#{pane_pid}')), 'SIGKILL');
    await untilStarts('shop', 2);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin', 'begin']), WAIT);
    await aWhile(12_000); // the other one has looked, too
    expect([starts('shop'), sessionsOf(tmux)]).toEqual([2, ['shop']]);
    expect(agent('shop').prompts()).toEqual(['begin', 'begin']);
  });

  it('in one channel have two panels, and each starts its own sessions', async () => {
    const workspace = await startTestWorkspace({});
    const begin = (name: string) =>
      startDeclared([{ name: `of-${name}`, start: 'manual' }], {
        name,
        file: { panel: true },
        servers: (own) => [{ ...own, ...addressOf(workspace), name: 'discord', allow: [workspace.userId] }],
      });
    const [laptop, desk] = [await begin('laptop'), await begin('desk')];
    const panels = async () => {
      const all = await workspace.person.messages(workspace.channelId);
      return all.filter(({ content }) => content.startsWith('**Sessions**')).toReversed();
    };
    const [first, second] = await vi.waitFor(async () => {
      const both = await panels();
      expect(both.map(({ content }) => /of-\w+/.exec(content)?.[0])).toEqual(['of-laptop', 'of-desk']);
      return both;
    }, WAIT);
    if (first === undefined || second === undefined) throw new Error('there are not two panels');
    await workspace.person.tap(workspace.channelId, second.id, buttonOf(second, 'Start of-desk'));
    await desk.untilStarts('of-desk', 1);
    await vi.waitFor(async () => expect((await panels())[1]?.content).toMatch(/`of-desk` <#\d+> idle/), WAIT);
    expect(laptop.starts('of-laptop')).toBe(0);
    expect((await panels()).map(({ id }) => id)).toEqual([first.id, second.id]);
  });
});
