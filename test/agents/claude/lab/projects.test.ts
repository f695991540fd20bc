// Declared sessions with the real Claude Code: the bridge starts them, gives them their prompt, starts them again after a crash, and
// leaves them alone when they have exited; here and on another host, where also settings and worktrees are tried.

import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type ClaudeLab, startClaudeLab } from '../../../support/claude-lab.ts';
import { declineAutoMode, startLabWithHost } from '../../../support/far-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';
import type { WireMessage } from '../../../support/workspace.ts';

const PROMPT = 'hello from the configuration';

const says = ({ person }: ClaudeLab, channel: string, what: RegExp) =>
  vi.waitFor(async () => {
    const found = (await person.messages(channel)).find(({ content }) => what.test(content));
    expect(found, String(what)).toBeDefined();
    return found as WireMessage;
  }, PATIENCE);

const untilPrompts = (session: LabSession, ...prompts: readonly string[]) =>
  vi.waitFor(() => expect(session.prompts()).toEqual(prompts), PATIENCE);

it('a declared session starts by itself, again after a crash, and stays ended after /exit', {
  timeout: 240_000,
}, async () => {
  const lab = await startClaudeLab();
  onTestFinished(() => lab.stop());
  await lab.start('demo'); // starts the model
  lab.configure({ sessions: [{ name: 'auto', directory: lab.project, prompt: PROMPT, permissionMode: 'plan' }] });
  const auto = await lab.find('auto');
  await auto.idle();
  await untilPrompts(auto, PROMPT);
  await auto.marked(await says(lab, auto.thread, new RegExp(`^${PROMPT}$`)), '✅');
  await says(lab, auto.thread, new RegExp(`Echo: ${PROMPT}`));
  expect(auto.screen()).toContain('plan mode on');
  const pid = () => Number(lab.tmux('display-message', '-p', '-t', '=auto:', '#{pane_pid}'));

  // Killing threadmux changes nothing for it.
  const before = pid();
  await lab.restart(async () => {});
  await sleep(3_000);
  expect([pid(), auto.prompts()]).toEqual([before, [PROMPT]]);

  const conversation = auto.record().claudeSession;
  process.kill(before, 'SIGKILL');
  await says(lab, auto.thread, /^⚠️ `auto` ended unexpectedly.*It starts again/);
  await vi.waitFor(() => expect(auto.record().claudeSession).not.toBe(conversation), PATIENCE);
  const again = await lab.find('auto');
  await again.idle();
  await untilPrompts(again, PROMPT);
  expect(pid()).not.toBe(before);

  again.type('/exit');
  await vi.waitFor(() => expect(again.screen()).toContain('/exit'), PATIENCE);
  again.press('Enter');
  await says(lab, auto.thread, /^⏹️/);
  await sleep(4_000);
  expect(() => lab.tmux('has-session', '-t', '=auto')).toThrow();
  await lab.person.say(lab.channelId, '!start auto');
  await says(lab, lab.channelId, /^▶️ `auto` is up/);
  lab.tmux('has-session', '-t', '=auto');
});

it('a declared session on another host starts by itself, takes settings, and another one gets a worktree', {
  timeout: 300_000,
}, async () => {
  const far = await startLabWithHost({ sshd: true });
  const { lab, socket, project } = far;
  const git = (...args: string[]) => execFileSync('git', ['-C', project, ...args], { encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('-c', 'user.name=a', '-c', 'user.email=a@a', 'commit', '-q', '--allow-empty', '-m', 'first');
  const sessions = [{ name: 'auto', prompt: PROMPT }];
  lab.configure({ projects: [{ path: project, host: 'far', name: 'shop', sessions, worktreeSetup: 'echo prepared' }] });
  const auto = await lab.find('auto');
  expect(auto.record()).toMatchObject({ host: 'far', cwd: project });
  await declineAutoMode(far, 'auto', () => auto.prompts().length > 0);
  await untilPrompts(auto, PROMPT);
  await says(lab, auto.thread, new RegExp(`^-# far · [^\\n]*\nEcho: ${PROMPT}`));
  const screen = (name: string) =>
    execFileSync('tmux', ['-u', '-S', socket, 'capture-pane', '-p', '-t', `=${name}:`], { encoding: 'utf8' });

  await auto.say('!set mode plan');
  await says(lab, auto.thread, /^⚙️ \*\*mode\*\*: `plan`, from this thread\. Claude is in this mode now\./);
  expect(screen('auto')).toContain('plan mode on');
  await auto.say('!set model haiku');
  const set = await says(lab, auto.thread, /^⚙️ \*\*model\*\*: sent to Claude as `\/model haiku`/);
  await auto.marked(set, '✅');
  await auto.say('!status');
  await says(lab, auto.thread, /`project`, branch `main`/);

  await lab.person.say(lab.channelId, `!new tree far ${project} --worktree`);
  const tree = await lab.find('tree');
  await says(lab, tree.thread, /prepared/);
  // Claude Code trusts the repository, and so its worktrees.
  const at = join(realpathSync(far.ssh.home), '.threadmux/worktrees/shop/tree');
  await tree.marked(await tree.say('hello'), '✅');
  await says(lab, tree.thread, /Echo: hello/);
  expect([tree.record().cwd, git('branch', '--list', 'threadmux/*').trim()]).toEqual([at, '+ threadmux/tree']);
  await lab.person.say(lab.channelId, '!kill tree@far');
  const left = () => [existsSync(at), git('branch', '--list', 'threadmux/*')];
  await vi.waitFor(() => expect(left()).toEqual([false, '']), PATIENCE);
});
