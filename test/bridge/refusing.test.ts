// Where Claude does not run, nothing is typed: the user is told what runs instead, and Retry works once Claude is back.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import type { WireMessage } from '../support/workspace.ts';
import { madeLongAgo, type Setting, screenOf, startSetting, WAIT } from './bridge-setup.ts';

/** A command line that would create a file if any shell ran it. */
const trace = (setting: Setting) => join(setting.machine.tmux.dir, 'pwned');
const trap = (setting: Setting) => `touch ${trace(setting)}`;

async function refused(setting: Setting, claude: FakeClaude, why: RegExp): Promise<WireMessage> {
  const message = await setting.say(claude, trap(setting));
  await setting.untilMarked(message, '⚠️');
  const word = await setting.answer(claude, /^⚠️ Not delivered\./);
  expect(word.content).toMatch(why);
  expect(JSON.stringify(word.components)).toContain(`retry:${message.id}`);
  return message;
}

async function retryByTap(setting: Setting, claude: FakeClaude): Promise<void> {
  const word = await setting.answer(claude, /^⚠️ Not delivered\./);
  const [, id] = /retry:(\d+)/.exec(JSON.stringify(word.components)) ?? [];
  await setting.workspace.person.tap(claude.thread, word.id, `retry:${id}`);
}

async function untilPane({ machine }: Setting, format: string, wanted: string): Promise<void> {
  const seen = () => machine.tmux.call('display-message', '-p', '-t', '=web:', format);
  await vi.waitFor(() => expect(seen()).toBe(wanted), WAIT);
}

describe('a message for a pane without Claude', () => {
  it('is not run by the shell that Claude exited to, and Retry types it once Claude is back', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { inShell: true });
    await claude.tell('exit');
    await untilPane(setting, '#{pane_current_command}', 'sh');
    const message = await refused(setting, claude, /Claude has exited, and the pane shows a shell/);
    expect(existsSync(trace(setting))).toBe(false);
    const again = await setting.claude('web', { again: true });
    expect(again.thread).toBe(claude.thread);
    await retryByTap(setting, claude);
    await setting.untilMarked(message, '✅');
    expect(again.prompts()).toEqual([trap(setting)]);
    expect(existsSync(trace(setting))).toBe(false);
  });

  it('is not typed into a dead pane, and !retry finds it', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { remainOnExit: true });
    await claude.tell('exit');
    await untilPane(setting, '#{pane_dead}', '1');
    const message = await refused(setting, claude, /has ended/);
    setting.machine.startServer(); // a server that is about to exit could take the next session with it
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const again = await setting.claude('web');
    await setting.say(claude, '!retry');
    await setting.untilMarked(message, '✅');
    expect(again.prompts()).toEqual([trap(setting)]);
  });

  it('is not typed into another program', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { inShell: true });
    await claude.tell('exit');
    await untilPane(setting, '#{pane_current_command}', 'sh');
    setting.machine.tmux.call('send-keys', '-t', '=web:', 'clear; cat', 'Enter');
    await untilPane(setting, '#{pane_current_command}', 'cat');
    await refused(setting, claude, /Another program \(`cat`\) runs in the pane/);
    expect(screenOf(setting.machine, 'web')).not.toContain('pwned');
  });

  it('is not typed into the pane that has the same id after tmux was restarted', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const { tmux } = setting.machine;
    tmux.call('kill-server');
    await vi.waitFor(() => tmux.call('new-session', '-d', '-s', 'web', 'sh'), WAIT);
    expect(tmux.call('display', '-p', '-t', '=web:', '#{pane_id}')).toBe(claude.record().paneId);
    const refusing = refused(setting, claude, /The pane runs a plain shell/);
    const { registry } = setting.shared.threads;
    await vi.waitFor(() => expect(registry.get(claude.thread)?.shell).toBe('found'), WAIT);
    madeLongAgo(setting, claude.thread);
    await refusing;
    expect(screenOf(setting.machine, 'web')).not.toContain('pwned');
  });

  it('is not typed elsewhere when its pane is gone', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const other = await setting.claude('web-2');
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const message = await refused(setting, claude, /The session is not running/);
    expect(other.noted()).toEqual([]);
    const again = await setting.claude('web');
    await retryByTap(setting, claude);
    await setting.untilMarked(message, '✅');
    expect(again.prompts()).toEqual([trap(setting)]);
  });

  it('waits while the pane takes no input, or shares it with other panes', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const { tmux } = setting.machine;
    tmux.call('select-pane', '-d', '-t', '=web:');
    const message = await setting.say(claude, 'hello');
    await setting.answer(claude, /^📨 Your message waits\. The pane accepts no input/);
    tmux.call('select-pane', '-e', '-t', '=web:');
    await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });
});
