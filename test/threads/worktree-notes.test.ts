import { expect, it } from 'vitest';
import { openHome } from '../../home/home.ts';
import type { Host } from '../../hosts/host.ts';
import { newWorktree, noteWorktree } from '../../threads/known-worktree.ts';
import { openWorktrees } from '../../threads/worktrees.ts';
import { tempFolder } from '../support/temp-home.ts';

const made = { name: 'web', path: '/w/web', start: '/w/web', branch: 'threadmux/web' };
const worktree = newWorktree(
  { host: 'laptop', project: 'shop', session: 'web', directory: '/shop', state: 'open' },
  made,
);

function open(answer: readonly string[]) {
  const home = openHome(tempFolder());
  const host: Host = {
    name: 'laptop',
    tmux: 'tmux',
    close: async () => {},
    start: () => expect.fail('nothing is started'),
    sh: async () => `${answer.join('\0')}\0`,
  };
  const hosts = { get: () => host, isLocal: () => true } as unknown as Parameters<typeof openWorktrees>[0]['hosts'];
  return {
    home,
    worktrees: () => openWorktrees({ home, hosts, config: { host: 'laptop' }, userHome: () => undefined }),
  };
}

it('a kept worktree that the command line uses again is open again, and still belongs to its thread', async () => {
  const { home, worktrees } = open(['kept', '/w/web', 'threadmux/web', '1', '0', '0', '0', '5', '', '?? new.txt']);
  noteWorktree(home, { ...worktree, thread: '1' });
  const all = worktrees();
  await all.end(worktree, async () => false);
  expect(all.known()).toMatchObject([{ name: 'web', thread: '1', state: 'kept' }]);
  noteWorktree(home, worktree);
  expect(worktrees().known()).toMatchObject([{ name: 'web', thread: '1', state: 'open' }]);
});

it('a note that comes before the end does not bring a removed worktree back', async () => {
  const { home, worktrees } = open(['removed', 'abc']);
  noteWorktree(home, worktree);
  const all = worktrees();
  noteWorktree(home, worktree);
  expect(await all.end(worktree, async () => false)).toMatchObject({ is: 'removed' });
  await all.compare('laptop').catch(() => {});
  expect(all.known()).toEqual([]);
});
