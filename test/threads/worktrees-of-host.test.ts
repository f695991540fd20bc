import { describe, expect, it } from 'vitest';
import { openHome } from '../../home/home.ts';
import type { Host } from '../../hosts/host.ts';
import { openWorktrees } from '../../threads/worktrees.ts';
import { tempFolder } from '../support/temp-home.ts';

describe('a hostile host that names worktrees', () => {
  /** As many as fit into one answer, with other names each time. */
  function hostile(): Host {
    let last = 0;
    const one = () => {
      last++;
      return ['a', `n${last}`, 'ready', `s${last}`, '/', 'b', '/x', '0', '0', '0', '0', '0', ''].join('\0');
    };
    return {
      name: 'mini',
      tmux: 'tmux',
      close: async () => {},
      start: () => expect.fail('nothing is started'),
      sh: async () => `${Array.from({ length: 25_000 }, one).join('\0')}\0`,
    };
  }

  it('neither freezes threadmux nor fills its memory', async () => {
    const host = hostile();
    const hosts = { get: () => host, isLocal: () => false } as unknown as Parameters<typeof openWorktrees>[0]['hosts'];
    const home = openHome(tempFolder());
    const worktrees = openWorktrees({ home, hosts, config: { host: 'laptop' }, userHome: () => '/home/user' });
    const before = process.cpuUsage();
    for (let time = 0; time < 3; time++) await worktrees.compare('mini');
    const { user, system } = process.cpuUsage(before);
    expect(worktrees.known()).toHaveLength(500);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });
});
