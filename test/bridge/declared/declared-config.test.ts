// Declared sessions while config.json changes, and while two bridges use one host.

import { describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace } from '../../support/workspace.ts';
import { addressOf, aWhile, type Setting, startSetting, WAIT } from '../bridge-setup.ts';
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

describe('two bridges that declare one session on one host', () => {
  it('have one session, which gets its prompt once, and two panels in one channel', { timeout: 120_000 }, async () => {
    const host = await startFarHost('far');
    const folder = tempFolder();
    const program = `${folder}/claude`;
    const hosts = { far: { ssh: 'far', socket: host.place.tmux.socket } };
    const project = { path: '~', host: 'far', name: 'far', panel: true, sessions: [{ name: 'shop', prompt: 'begin' }] };
    const workspace = await startTestWorkspace({});
    const ours = `${host.ssh.home}/.threadmux/for/laptop`;
    declaredAgent(
      folder,
      () => ours,
      () => `${ours}/bin/drop`,
    );
    const begin = (name: string) =>
      startSetting({
        ...{ name, sshConfig: host.ssh.configFile, file: { agent: { command: [program] }, hosts } },
        servers: (own) => [
          {
            ...{ ...own, ...addressOf(workspace), name: 'discord', allow: [workspace.userId] },
            projects: [{ ...project, channel: workspace.channelId } as never],
          },
        ],
      });
    const first = await begin('laptop');
    const { starts, untilStarts, agent } = watchStarts(folder);
    await untilStarts('shop', 1);
    await begin('desk');
    const panels = async () => {
      const all = await workspace.person.messages(workspace.channelId);
      return all.filter(({ content }) => /^\*\*Sessions\*\*\n.*shop@far/.test(content));
    };
    await vi.waitFor(async () => expect(await panels()).toHaveLength(2), WAIT);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin']), WAIT);
    await aWhile(2_000);
    expect([starts('shop'), sessionsOf(host.place.tmux), agent('shop').prompts()]).toEqual([1, ['shop'], ['begin']]);

    // Both notice the crash, and one of them starts it.
    process.kill(Number(host.place.tmux.call('display-message', '-p', '-t', '=shop:', '#{pane_pid}')), 'SIGKILL');
    await untilStarts('shop', 2);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin', 'begin']), { ...WAIT, timeout: 40_000 });
    await aWhile(2_000);
    expect([starts('shop'), sessionsOf(host.place.tmux)]).toEqual([2, ['shop']]);
    await first.stop();
  });
});
