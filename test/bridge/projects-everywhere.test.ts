// A project on this machine and on another host, through Discord's stand-in and the local workspace: its sessions start, are set, held,
// scheduled and ended alike.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { PROGRAM } from '../bin/cli.ts';
import { threadNames } from '../support/hook-process.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile } from './bridge-setup.ts';
import { sessionsOf } from './declared/declared-setup.ts';
import { PROJECT_PLACES, type ProjectPlace, reportThere, SLOW, startProjectAt } from './project-places.ts';

describe.each(PROJECT_PLACES)('a project %s', (_, place) => {
  it('starts its declared sessions, again after a crash, shows them on the panel, and ends them for good', {
    timeout: 600_000,
  }, async () => {
    const sessions = [
      { name: 'shop', prompt: 'begin' },
      { name: 'review', start: 'manual', worktree: true, model: 'haiku' },
    ];
    const project = await startProjectAt(place, { sessions, panel: true });
    const { setting, channelId, threadOf, tmux, panel, labelOf } = project;
    const [shop, review] = [labelOf('shop'), labelOf('review')];
    await vi.waitFor(() => expect(project.agent('shop').prompts()).toEqual(['begin']), SLOW);
    await panel.until(new RegExp(`🟢 \`${shop}\` <#\\d+> idle.* · ⎇ \`main\` · `));
    process.kill(Number(tmux.call('display-message', '-p', '-t', '=shop:', '#{pane_pid}')), 'SIGKILL');
    await vi.waitFor(() => expect(project.agent('shop').prompts()).toEqual(['begin', 'begin']), SLOW);
    const thread = await threadOf('shop');
    await setting.answer(thread, new RegExp(`^⚠️ \`${shop}\` ended unexpectedly\\. It starts again`));

    // What the status line says comes with the next reply.
    const { claudeSession = '' } = setting.shared.threads.registry.get(thread) ?? {};
    const status = {
      session_id: claudeSession,
      model: { display_name: 'Opus' },
      context_window: { used_percentage: 41.6 },
    };
    mkdirSync(join(project.oursThere, 'status'), { recursive: true });
    writeFileSync(join(project.oursThere, 'status', `${claudeSession}.json`), JSON.stringify(status));
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
    await panel.until(new RegExp(`\`${shop}\` .* · ⎇ \`main\` · Opus · 42% context · active`));

    await panel.until(new RegExp(`\`${review}\` not started`));
    await panel.press('Start', review);
    await project.untilStarts('review', 1);
    await panel.until(new RegExp(`🟢 \`${review}\` <#\\d+> idle.* · ⎇ \`threadmux/review\` \\(worktree\\) · haiku`));
    await panel.press('Stop', review);
    await panel.until(new RegExp(`\`${review}\` <#\\d+> stopped`));
    await setting.say(channelId, '!stop-session shop');
    await panel.until(new RegExp(`\`${shop}\` <#\\d+> stopped`));
    await setting.restart();
    await aWhile(2_000);
    expect([project.starts('shop'), project.starts('review')]).toEqual([2, 1]);
    expect(() => sessionsOf(tmux)).toThrow();
  });

  it('has sessions by !new, from the command line and for threads, with settings, schedule, limits and worktrees', {
    timeout: 600_000,
  }, async () => {
    const project = await startProjectAt(place, {
      defaults: { model: 'opus' },
      worktreeSetup: 'echo prepared',
      threadsStart: true,
      onArchive: 'end',
      onLimit: 'hold',
    });
    await fromTheCommandLine(project);
    await byNew(project, place);
    await forThreads(project);
  });

  it('has a channel that talks to a session', async () => {
    const { setting, channelId, agent, untilStarts } = await startProjectAt(place, { talk: 'main' });
    const first = await setting.say(channelId, 'hello');
    await setting.untilMarked(await setting.say(channelId, 'and more'), '✅');
    await setting.untilMarked(first, '✅');
    await untilStarts('main', 1);
    expect(agent('main').prompts()).toEqual(['hello', 'and more']);
    await setting.answer(channelId, /and more/);
    expect(await threadNames(setting.workspace)).toEqual([]);
  });
});

type Project = Awaited<ReturnType<typeof startProjectAt>>;

async function byNew(project: Project, place: ProjectPlace): Promise<void> {
  const { setting, channelId, threadOf, agent, repo, tmux } = project;
  await setting.say(channelId, '!new web --worktree --mode plan');
  const up = await vi.waitFor(() => setting.answer(channelId, /^▶️ `web` is up/), SLOW);
  expect(up.content).toContain('on the branch `threadmux/web`');
  const thread = await threadOf('web');
  const at = project.worktree('web');
  expect(tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_path}')).toBe(at);
  expect((await setting.answer(thread, /done, exit code 0/)).content).toContain('prepared');
  await setting.answer(channelId, /`shop`, branch `threadmux\/web` · model `opus` · plan mode/);

  await setting.say(thread, '!set model haiku');
  await setting.untilMarked(
    await setting.answer(thread, /^⚙️ \*\*model\*\*: sent to Claude as `\/model haiku`\./),
    '✅',
  );
  await setting.answer(thread, /Set model to haiku\n```\n⚙️ \*\*model\*\*: `haiku`, from this thread\.$/);
  expect(agent('web').noted()).toEqual([{ kind: 'slash', text: '/model haiku' }]);
  await setting.say(thread, '!set progress quiet');
  await setting.answer(thread, /^⚙️ \*\*progress\*\*: `quiet`/);
  await setting.say(thread, '!set');
  await setting.answer(thread, /\*\*model\*\*: `haiku`, from this thread\.\n\*\*mode\*\*: `plan`, from this thread/);

  await setting.say(thread, '!at +1s look at the log');
  await vi.waitFor(() => expect(agent('web').prompts()).toEqual(['look at the log']), SLOW);
  await setting.untilMarked(await setting.answer(thread, /^look at the log\n-# ⏰/), '✅');
  await setting.say(thread, '!status');
  const status = await setting.answer(thread, /`web` (?:idle|working)/);
  expect(status.content).toContain(`on \`${place.host}\`, in \``);
  expect(status.content).toContain('`shop`, branch `threadmux/web`');
  await setting.say(thread, '!export');
  expect((await setting.answer(thread, /^📄/)).attachments).toHaveLength(1);

  // Work is kept, shown, and removed only after a second tap.
  const { person } = setting.workspace;
  const tap = async (pattern: RegExp, label: string) => {
    const message = await vi.waitFor(() => setting.answer(thread, pattern), SLOW);
    return person.tap(thread, message.id, buttonOf(message, label));
  };
  writeFileSync(join(at, 'new.txt'), 'work\n');
  await setting.say(channelId, `!kill ${project.labelOf('web')}`);
  await tap(/The worktree is kept: it has 1 changed file/, 'Show the diff');
  await setting.answer(thread, /\+work/);
  await tap(/The worktree is kept/, 'Remove anyway');
  expect(existsSync(join(at, 'new.txt'))).toBe(true);
  await tap(/cannot be undone/, 'Remove it for good');
  await vi.waitFor(() => expect([existsSync(at), repo.branches()]).toEqual([false, ['main']]), SLOW);
}

async function forThreads(project: Project): Promise<void> {
  const { setting, channelId, agent, tmux, untilStarts } = project;
  const { person } = setting.workspace;
  const { id } = (await person.call('POST', `/channels/${channelId}/threads`, { name: 'Fix the login!', type: 11 }))
    .body;
  await setting.untilMarked(await setting.say(id, 'the button does nothing'), '✅');
  await untilStarts('Fix-the-login', 1);
  expect(agent('Fix-the-login').prompts()).toEqual(['the button does nothing']);
  await setting.answer(id, /the button does nothing/);

  const { claudeSession = '', transcript = '', cwd = '' } = setting.shared.threads.registry.get(id) ?? {};
  const time = new Date(Date.now() + 3_600_000).toLocaleTimeString('en-US', {
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
  });
  const said = `You've hit your session limit · resets ${time.replace(/\s([AP]M)/, (_, half: string) => half.toLowerCase())} (UTC)`;
  reportThere(project, setting, 'Fix-the-login', {
    session_id: claudeSession,
    transcript_path: transcript,
    cwd,
    hook_event_name: 'StopFailure',
    error: 'rate_limit',
    last_assistant_message: said,
  });
  const notice = await setting.answer(id, /Messages in this thread wait until then\.$/);
  const held = await setting.say(id, 'go on');
  await setting.untilMarked(held, '📨');
  await person.tap(id, notice.id, buttonOf(notice, 'Cancel'));
  await setting.untilMarked(held, '✅');
  await setting.answer(id, /go on/);

  await person.call('PATCH', `/channels/${id}`, { archived: true });
  await setting.answer(id, /^⏹️ Ended, because its thread was archived\.$/);
  await vi.waitFor(() => expect(() => sessionsOf(tmux)).toThrow(), SLOW);
}

async function fromTheCommandLine(project: Project): Promise<void> {
  const { mini, setting, tmux, repo, threadOf, labelOf } = project;
  const bin = mini === undefined ? '' : `${sshBin(mini.ssh.configFile)}:`;
  const own = {
    ...setting.machine.env,
    THREADMUX_TMUX_SOCKET: setting.machine.tmux.socket,
    THREADMUX_HOST: 'laptop',
    SHELL: '/bin/sh',
    PATH: `${bin}${process.env.PATH}`,
  };
  if (mini !== undefined) await vi.waitFor(() => expect(existsSync(join(mini.ours, 'bin/drop'))).toBe(true), SLOW);
  const args = [PROGRAM, 'start', labelOf('cli'), '--worktree', '--dir', repo.path];
  // Not execFileSync: the server is in this process.
  expect((await promisify(execFile)(process.execPath, args, { env: own })).stdout).toBe('cli\n');
  const at = project.worktree('cli');
  expect(tmux.call('display-message', '-p', '-t', '=cli:', '#{pane_current_path}')).toBe(at);
  const thread = await threadOf('cli');
  await vi.waitFor(() => expect(setting.shared.worktrees.known()).toMatchObject([{ path: at, thread }]), SLOW);
  await setting.say(setting.workspace.channelId, `!kill ${labelOf('cli')}`);
  await vi.waitFor(() => expect([existsSync(at), repo.branches()]).toEqual([false, ['main']]), SLOW);
}

/** The command line finds the configuration of ssh through the password file, not through HOME. */
function sshBin(configFile: string): string {
  const bin = tempFolder();
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nPATH=\${PATH#*:}; exec ssh -F '${configFile}' "$@"\n`, { mode: 0o755 });
  return bin;
}
