// A session that was started as a shell, after the agent that a user had started in it has exited.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { tempFolder } from '../support/temp-home.ts';
import { type Setting, startSetting, WAIT } from './bridge-setup.ts';

async function start() {
  const setting = await startSetting({ file: { allowShell: true } });
  const { workspace, machine } = setting;
  const folder = tempFolder();
  await setting.say(workspace.channelId, `!new web ${folder} -- bash --norc`);
  await setting.answer(workspace.channelId, /^▶️ `web` is up/);
  const own = Object.entries(machine.env).map(([name, value]) => `export ${name}='${value}'\n`);
  writeFileSync(join(folder, 'own'), own.join(''));
  machine.tmux.call('send-keys', '-t', '=web:', '. ./own', 'Enter'); // for the hooks of the fake Claude Code
  const claude = await setting.claude('web', { again: true });
  const file = join(folder, 'ran');
  const ran = () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);
  const kill = async () => {
    const shell = machine.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_pid}');
    const children = readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim().split(' ');
    expect(children).toHaveLength(1);
    process.kill(Number(children[0]), 'SIGKILL');
    await untilShell(setting);
  };
  return { setting, claude, ran, kill };
}

async function untilShell({ machine }: Setting): Promise<void> {
  const seen = () => machine.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_command}');
  await vi.waitFor(() => expect(seen()).toBe('bash'), WAIT);
}

it('runs what is written after a message was refused because the agent has exited', async () => {
  const { setting, claude, ran } = await start();
  await claude.tell('exit', true);
  await setting.answer(claude, /^⏹️ Claude has exited/);
  await vi.waitFor(() => expect(setting.shared.threads.registry.get(claude.thread)?.state).toBe('ended'), WAIT);
  await setting.untilMarked(await setting.say(claude, 'echo for Claude >> ran'), '⚠️');
  await setting.answer(claude, /^⚠️ Not delivered\..*Retry runs it there/s);
  await setting.untilMarked(await setting.say(claude, 'echo one >> ran'), '✅');
  await setting.untilMarked(await setting.say(claude, 'echo two >> ran'), '✅');
  expect(ran()).toEqual(['one', 'two']);
  await setting.say(setting.workspace.channelId, '!sessions');
  const { content } = await setting.answer(setting.workspace.channelId, /^🐚/);
  expect(content).toMatch(/^🐚 `web` <#\d+> shell · `/); // neither the agent nor the time since the last message
});

it('after a signal, which nothing reports, runs only what is written after the user was told, and what Retry is tapped for', async () => {
  const { setting, claude, ran, kill } = await start();
  const { call } = setting.machine.tmux;
  call('select-pane', '-d', '-t', '=web:'); // messages wait
  const early = await setting.say(claude, 'echo early >> ran');
  const second = await setting.say(claude, 'echo second >> ran');
  await setting.untilMarked(early, '📨');
  await kill();
  call('select-pane', '-e', '-t', '=web:');
  await setting.untilMarked(early, '⚠️');
  await setting.untilMarked(second, '⚠️');
  const told = (await setting.answers(claude)).filter(({ content }) => content.startsWith('⚠️ Not delivered.'));
  expect(told).toHaveLength(2);
  for (const { content } of told)
    expect(content).toMatch(/Claude has exited, and the pane shows a shell\..*Retry runs it there/s);
  expect(ran()).toEqual([]);
  await setting.untilMarked(await setting.say(claude, 'echo late >> ran'), '✅');
  await setting.workspace.person.tap(claude.thread, told[0]?.id ?? '', `retry:${early.id}`);
  await setting.untilMarked(early, '✅');
  expect(ran()).toEqual(['late', 'early']);
});

it('gives the next message to the agent that was started there again, and not to the shell when that one is killed', async () => {
  const { setting, claude, ran, kill } = await start();
  await claude.tell('exit', true);
  await setting.answer(claude, /^⏹️ Claude has exited/);
  await untilShell(setting);
  const again = await setting.claude('web', { again: true });
  await setting.untilMarked(await setting.say(claude, 'hello'), '✅');
  expect(again.prompts()).toEqual(['hello']);
  await kill();
  await setting.untilMarked(await setting.say(claude, 'echo no >> ran'), '⚠️');
  expect(ran()).toEqual([]);
});
