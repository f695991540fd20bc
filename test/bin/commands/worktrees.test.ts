import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startRepo } from '../../support/worktree-repo.ts';
import { startCli } from '../cli.ts';

it('lists worktrees and removes those without work', async () => {
  const cli = startCli();
  const on = startRepo(realpathSync(cli.dir));
  const make = (session: string) => on.run('make', ['shop', session, on.repo])?.[2] ?? '';
  const env = { THREADMUX_HOME: on.home, THREADMUX_HOST: 'laptop' };
  mkdirSync(on.home, { recursive: true, mode: 0o700 });
  expect(await cli.run(['worktrees'], { env })).toMatchObject({ status: 0, stderr: 'No worktrees.\n' });
  const [web, api, gone] = [make('web'), make('api'), make('gone')];
  writeFileSync(join(api, 'new.txt'), 'work\n');
  rmSync(gone, { recursive: true });
  cli.tmux.call('new-session', '-d', '-s', 'web', '-c', web, 'sleep 1000');

  const { data } = await cli.run(['worktrees', '--json'], { env });
  const found = data().worktrees as { name: string; state: string; changed: number; branch: string }[];
  expect(found.map(({ name, state, changed, branch }) => [name, state, changed, branch])).toEqual([
    ['shop/api', 'no session', 1, 'threadmux/api'],
    ['shop/gone', 'folder removed by hand', 0, 'threadmux/gone'],
    ['shop/web', 'in use', 0, 'threadmux/web'],
  ]);
  expect((await cli.run(['worktrees'], { env })).stdout).toMatch(
    /shop\/api +api +threadmux\/api +no session +1 changed file/,
  );

  const remove = (name: string) => cli.run(['worktrees', 'remove', name, '--json'], { env });
  expect((await remove('shop/web')).error()).toMatchObject({ message: 'session web uses shop/web' });
  expect((await remove('shop/api')).error()).toMatchObject({
    message: 'shop/api was not removed: it has 1 changed file',
  });
  expect(await remove('shop/nothing')).toMatchObject({ status: 3 });
  expect((await remove('shop/gone')).data()).toEqual({ host: 'laptop', name: 'shop/gone', removed: true });
  cli.tmux.call('kill-session', '-t', 'web');
  expect((await remove('shop/web')).data()).toMatchObject({ removed: true });
  expect([existsSync(web), existsSync(join(api, 'new.txt')), on.branches()]).toEqual([
    false,
    true,
    ['main', 'threadmux/api'],
  ]);
});
