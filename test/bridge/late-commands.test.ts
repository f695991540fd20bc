// A command that was written while threadmux was not running, or that a killed process had begun: what it would do may be wrong by now.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { aWhile, WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

async function start() {
  const parts = await startKillable({ config: { allowShell: true } });
  const { workspace, machine } = parts;
  const file = join(machine.tmux.dir, 'ran');
  const ran = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0);
  const replies = async (after: string) =>
    (await workspace.person.messages(workspace.channelId, `after=${after}`))
      .filter(({ author }) => author.id !== workspace.userId)
      .map(({ content }) => content);
  const help = await workspace.person.say(workspace.channelId, '!help'); // it listens when it answers
  await vi.waitFor(async () => expect(await replies(help.id)).toHaveLength(1), WAIT);
  return { ...parts, file, ran, replies };
}

it('!sh that a killed process was running does not run again', async () => {
  const { workspace, up, again, file, ran, replies } = await start();
  const said = await workspace.person.say(workspace.channelId, `!sh echo >> '${file}'; sleep 3`);
  await vi.waitFor(() => expect(ran()).toBe(1), WAIT);
  up().kill();
  await up().ended;
  await again();
  await vi.waitFor(async () => expect(await replies(said.id)).toEqual([expect.stringContaining('Not run')]), WAIT);
  expect(ran()).toBe(1);
});

it('!sh that was written while threadmux was not running does not run', async () => {
  const { workspace, up, again, file, ran, replies } = await start();
  up().kill();
  await up().ended;
  const said = await workspace.person.say(workspace.channelId, `!sh echo >> '${file}'`);
  await again();
  await vi.waitFor(async () => expect(await replies(said.id)).toEqual([expect.stringContaining('Not run')]), WAIT);
  expect(ran()).toBe(0);
});

it('!kill that was written while threadmux was not running ends no session that was started later', async () => {
  const { workspace, machine, up, again, replies } = await start();
  const { call } = machine.tmux;
  call('new-session', '-d', '-s', 'shop', 'cat');
  up().kill();
  await up().ended;
  const said = await workspace.person.say(workspace.channelId, '!kill shop');
  call('kill-session', '-t', '=shop');
  await aWhile(1_200); // tmux tells whole seconds
  call('new-session', '-d', '-s', 'shop', 'cat');
  await again();
  await vi.waitFor(async () => expect((await replies(said.id)).join()).toContain('Not ended'), WAIT);
  expect(call('list-sessions', '-F', '#{session_name}')).toContain('shop');
});
