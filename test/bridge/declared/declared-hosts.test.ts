// Declared sessions on another host, over a real ssh.

import { describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../../support/temp-home.ts';
import { aWhile, WAIT } from '../bridge-setup.ts';
import { startFar } from '../remote-host.ts';
import { declaredAgent, sessionsOf, watchStarts } from './declared-setup.ts';

async function startDeclaredFar() {
  const folder = tempFolder();
  const program = `${folder}/claude`;
  const project = { path: '~', host: 'far', name: 'far', sessions: [{ name: 'shop', prompt: 'begin' }] };
  const far = await startFar({
    file: { agents: { claude: { command: [program] } } },
    startAgainMs: [200, 200, 200, 200],
    before: (ssh) => {
      const ours = `${ssh.home}/.threadmux/for/laptop`;
      declaredAgent(
        folder,
        () => ours,
        () => `${ours}/bin/drop`,
      );
    },
    servers: (own) => [{ ...own, projects: [{ ...project, channel: own.channel } as never] }],
  });
  return { far, ...watchStarts(folder) };
}

describe('a declared session on another host', () => {
  it('starts by itself, again after a crash and a reboot, and stays ended on purpose', {
    timeout: 600_000,
  }, async () => {
    const { far, untilStarts, starts, agent } = await startDeclaredFar();
    const { tmux } = far.place;
    await untilStarts('shop', 1);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin']), WAIT);
    expect(sessionsOf(tmux)).toEqual(['shop']);

    process.kill(Number(tmux.call('display-message', '-p', '-t', '=shop:', '#{pane_pid}')), 'SIGKILL');
    await untilStarts('shop', 2);
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['begin', 'begin']), WAIT);

    tmux.call('kill-server');
    await untilStarts('shop', 3);
    await vi.waitFor(() => expect(agent('shop').prompts()).toHaveLength(3), WAIT);

    await vi.waitFor(() => agent('shop').tell('exit', true), WAIT);
    await vi.waitFor(() => expect(() => sessionsOf(tmux)).toThrow(), WAIT);
    await far.restart();
    await aWhile(2_000);
    expect(starts('shop')).toBe(3);
    await far.say(far.workspace.channelId, '!start shop');
    await untilStarts('shop', 4);
  });
});
