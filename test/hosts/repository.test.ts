// The repository and the branch of a directory.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { localHost } from '../../hosts/host.ts';
import { repositoryAt, repositoryName } from '../../hosts/repository.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';

const host = localHost({ name: 'here', env: process.env });

function repository() {
  const folder = tempFolder();
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], {
      encoding: 'utf8',
    });
  git('init', '-q', '-b', 'trunk');
  return { folder, git };
}

it('is named by its origin, or by its folder, also in a worktree', async () => {
  const { folder, git } = repository();
  const name = folder.split('/').at(-1);
  expect(await repositoryAt(host, folder)).toEqual({ name, branch: 'trunk', isWorktree: false }); // without a commit
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const tree = join(tempFolder(), 'session');
  git('worktree', 'add', '-q', '-b', 'other', tree);
  expect(await repositoryAt(host, tree)).toEqual({ name, branch: 'other', isWorktree: true });
  git('checkout', '-q', '--detach');
  expect(await repositoryAt(host, folder)).toMatchObject({ name, branch: git('rev-parse', '--short', 'HEAD').trim() });
  git('remote', 'add', 'origin', 'https://user:secret@git.test/team/shop.git');
  expect(await repositoryAt(host, folder)).toMatchObject({ name: 'team/shop' });
});

it('is none outside of one, and runs nothing that a repository names', async () => {
  expect(await repositoryAt(host, tempFolder())).toBeUndefined();
  expect(await repositoryAt(host, '/no/such/place')).toBeUndefined();
  const { folder, git } = repository();
  git('config', 'core.fsmonitor', `touch ${folder}/ran; false`);
  git('config', 'core.pager', `touch ${folder}/ran`);
  expect(await repositoryAt(host, folder)).toMatchObject({ branch: 'trunk' });
  expect(execFileSync('ls', [folder], { encoding: 'utf8' })).toBe('');
});

it('does not leave a git on another host that waits for ever', async () => {
  const server = await startSshServer();
  const { folder, git } = repository();
  git('commit', '-q', '--allow-empty', '-m', 'first');
  expect(await repositoryAt(server.host(), folder)).toMatchObject({ branch: 'trunk' });
  const config = join(folder, '.git', 'config');
  rmSync(config);
  execFileSync('mkfifo', [config]);
  const asked = repositoryAt(server.host(), folder);
  await vi.waitFor(() => expect(livingIn(folder)).not.toEqual([]), 10_000);
  expect(await asked).toBeUndefined();
  await vi.waitFor(() => expect(livingIn(folder)).toEqual([]), 20_000);
});

/** The processes that have their working folder there. */
function livingIn(folder: string): readonly string[] {
  const found = execFileSync('sh', ['-c', 'ls -l /proc/[0-9]*/cwd 2>/dev/null; true'], { encoding: 'utf8' });
  return found.split('\n').filter((line) => line.endsWith(` -> ${folder}`));
}

it.each([
  ['git@git.test:team/shop.git', 'team/shop'],
  ['https://token@git.test/shop', 'shop'],
  ['ssh://git@git.test:22/a/b/shop.git', 'b/shop'],
  ['/srv/mirror/shop.git', 'folder'],
  ['', 'folder'],
])('%j is shown as %s', (origin, name) => {
  expect(repositoryName(origin, '/home/me/folder/.git')).toBe(name);
});
