// A thread that a user archived or deleted stays so until its session posts or they write.

import { readdirSync, rmSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { saveAutoThreads } from '../../home/installed.ts';
import { aWhile, reconcile, type Setting, type SettingOptions, startSetting, WAIT } from '../bridge/bridge-setup.ts';
import type { Faults } from '../support/as-discord.mjs';
import { threadNames } from '../support/hook-process.ts';

async function start(options: SettingOptions = {}): Promise<Setting> {
  const setting = await startSetting(options);
  saveAutoThreads(setting.machine.home, true);
  return setting;
}

/** An agent whose first report is posted: a later one would reopen its thread. */
async function startAgent(setting: Setting, replies = true) {
  const claude = await setting.claude('web', { replies });
  await vi.waitFor(() => expect(setting.machine.letters()).toEqual([]), WAIT);
  return claude;
}

const until = (setting: Setting, names: readonly string[]) =>
  vi.waitFor(async () => expect(await threadNames(setting.workspace)).toEqual(names), WAIT);

/** Archives it as a user: the gateway reports it to the bridge. */
async function archive({ workspace }: Setting, thread: string, archived = true): Promise<void> {
  const { status } = await workspace.person.call('PATCH', `/channels/${thread}`, { archived });
  expect(status).toBe(200);
}

describe('a thread that a user archived', () => {
  it('stays archived through other sessions, renames and restarts, until its session posts', async () => {
    const setting = await start();
    const { tmux } = setting.machine;
    const claude = await startAgent(setting);
    await until(setting, ['[agent] web']);
    await archive(setting, claude.thread);
    await until(setting, ['([agent] web)']);
    tmux.call('new-session', '-d', '-s', 'other');
    await reconcile(setting);
    await until(setting, ['([agent] web)', '[agent] other']);
    tmux.call('rename-session', '-t', '=web', 'shop');
    await reconcile(setting);
    await setting.restart();
    await reconcile(setting);
    await until(setting, ['([agent] web)', '[agent] other']);
    tmux.call('send-keys', '-t', '=shop:', 'from the terminal', 'Enter');
    await vi.waitFor(() => expect(claude.prompts()).toContain('from the terminal'), WAIT);
    await until(setting, ['[agent] other', '[agent] shop']);
  });

  it('stays archived while its renamed session works and says nothing', async () => {
    const setting = await start();
    const { tmux } = setting.machine;
    const claude = await startAgent(setting, false);
    await archive(setting, claude.thread);
    await until(setting, ['([agent] web)']);
    tmux.call('rename-session', '-t', '=web', 'shop');
    await setting.restart(); // it asks tmux for the name again
    tmux.call('send-keys', '-t', '=shop:', 'from the terminal', 'Enter');
    await vi.waitFor(() => expect(claude.prompts()).toContain('from the terminal'), WAIT);
    await vi.waitFor(() => expect(setting.machine.letters()).toEqual([]), WAIT);
    await aWhile();
    expect(await threadNames(setting.workspace)).toEqual(['([agent] web)']);
  });

  it('is not reopened when the bridge starts, whatever was renamed in between', async () => {
    const setting = await start();
    const claude = await startAgent(setting);
    await setting.stop();
    await archive(setting, claude.thread);
    setting.machine.tmux.call('rename-session', '-t', '=web', 'shop');
    await setting.restart();
    await reconcile(setting);
    await until(setting, ['([agent] web)']);
  });

  it('is not reopened by a rename before Discord has told the bridge about it', async () => {
    let asks = 0;
    const slow = () => (asks++ === 0 ? undefined : ({ kind: 'delay', ms: 2_000 } as const));
    const faults: Faults = { onRequest: ({ path }) => (path === '/gateway/bot' ? slow() : undefined) };
    const setting = await start({ faults });
    const claude = await startAgent(setting);
    await setting.stop();
    for (const name of readdirSync(setting.machine.home.path('state')).filter((one) => one.endsWith('.gateway.json')))
      rmSync(setting.machine.home.path('state', name)); // the bridge cannot resume
    await archive(setting, claude.thread);
    setting.machine.tmux.call('rename-session', '-t', '=web', 'shop');
    await setting.restart();
    await reconcile(setting);
    expect(asks).toBe(2);
    expect(await threadNames(setting.workspace)).toEqual(['([agent] web)']);
  });

  it('is reopened when they write, and the message arrives', async () => {
    const setting = await start();
    const claude = await startAgent(setting);
    await archive(setting, claude.thread);
    await until(setting, ['([agent] web)']);
    await archive(setting, claude.thread, false);
    await setting.untilMarked(await setting.say(claude, 'hello'), '✅');
    await until(setting, ['[agent] web']);
  });
});

describe('a thread that a user deleted', () => {
  it('is created again only when its session posts', async () => {
    const setting = await start();
    const { tmux } = setting.machine;
    const claude = await startAgent(setting, false);
    await until(setting, ['[agent] web']);
    const { status } = await setting.workspace.person.call('DELETE', `/channels/${claude.thread}`);
    expect(status).toBe(200);
    tmux.call('new-session', '-d', '-s', 'other');
    await reconcile(setting);
    await until(setting, ['[agent] other']);
    tmux.call('send-keys', '-t', '=web:', 'a question', 'Enter');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['a question']), WAIT);
    await setting.restart();
    await reconcile(setting);
    await until(setting, ['[agent] other']);
    await claude.tell('replies', true);
    tmux.call('send-keys', '-t', '=web:', 'another', 'Enter');
    await until(setting, ['[agent] other', '[agent] web']);
  });
});
