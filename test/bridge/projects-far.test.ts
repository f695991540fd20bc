// A project on another host, over the real sshd, in a channel of Discord's stand-in: its sessions start, are set, held, scheduled and
// ended like those of this machine.

import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { PROGRAM } from '../bin/cli.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { makeRepo } from '../support/worktree-repo.ts';
import { aWhile, startSetting, WAIT } from './bridge-setup.ts';
import { declaredAgent, sessionsOf, watchStarts } from './declared/declared-setup.ts';
import { projectEntry } from './project-setup.ts';
import { startFarHost } from './remote-host.ts';

const SLOW = { ...WAIT, timeout: 60_000 } as const;

async function startFarProject(keys: object) {
  const host = await startFarHost('mini', { sshd: true });
  const { tmux } = host.place;
  const home = realpathSync(host.ssh.home);
  const repo = makeRepo(join(home, 'shop'));
  const folder = tempFolder();
  const program = declaredAgent(
    folder,
    () => host.ours,
    () => `${host.ours}/bin/drop`,
  );
  const hosts = { mini: { ssh: 'mini', socket: tmux.socket } };
  const shop = { path: '~/shop', host: 'mini', ...keys };
  const setting = await startSetting({
    ...{ sshConfig: host.ssh.configFile, file: { agent: { command: [program] }, hosts, projects: [shop] }, live: true },
    startAgainMs: [200, 200, 200, 200],
    servers: (own) => [
      { ...own, name: 'discord', onlyProjects: true, projects: [projectEntry({ ...shop, channel: own.channel })] },
    ],
  });
  const { channelId } = setting.workspace;
  const threadOf = (session: string) =>
    vi.waitFor(() => {
      const found = setting.shared.threads.registry.all().find((one) => one.sessionName === session && !one.closed);
      if (found === undefined) throw new Error(`${session} has no thread`);
      return found.thread;
    }, SLOW);
  return { host, tmux, home, repo, setting, channelId, threadOf, ...watchStarts(folder) };
}

describe('a project on another host', () => {
  it('starts its declared sessions, shows them on the panel, and ends them for good', {
    timeout: 180_000,
  }, async () => {
    const sessions = [
      { name: 'shop', prompt: 'begin' },
      { name: 'review', start: 'manual', worktree: true, model: 'haiku' },
    ];
    const { host, setting, channelId, threadOf, tmux, ...agents } = await startFarProject({ sessions, panel: true });
    const panel = (what: RegExp) =>
      vi.waitFor(async () => {
        const all = (await setting.answers(channelId)).filter(({ content }) => content.startsWith('**Sessions**'));
        expect(all).toHaveLength(1);
        expect(all[0]?.content).toMatch(what);
        return all[0] as NonNullable<(typeof all)[0]>;
      }, SLOW);
    await vi.waitFor(() => expect(agents.agent('shop').prompts()).toEqual(['begin']), SLOW);
    await panel(/🟢 `shop@mini` <#\d+> idle.* · ⎇ `main` · /);
    // What the status line says comes with the next reply.
    const thread = await threadOf('shop');
    const { claudeSession = '' } = setting.shared.threads.registry.get(thread) ?? {};
    const status = {
      session_id: claudeSession,
      model: { display_name: 'Opus' },
      context_window: { used_percentage: 41.6 },
    };
    mkdirSync(join(host.ours, 'status'), { recursive: true });
    writeFileSync(join(host.ours, 'status', `${claudeSession}.json`), JSON.stringify(status));
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
    await panel(/`shop@mini` .* · ⎇ `main` · Opus · 42% context · active/);

    const shown = await panel(/`review@mini` not started/);
    await setting.workspace.person.tap(channelId, shown.id, buttonOf(shown, 'Start review@mini'));
    await agents.untilStarts('review', 1);
    const running = await panel(/🟢 `review@mini` <#\d+> idle.* · ⎇ `threadmux\/review` \(worktree\) · haiku/);
    await setting.workspace.person.tap(channelId, running.id, buttonOf(running, 'Stop review@mini'));
    await panel(/`review@mini` <#\d+> stopped/);
    await setting.say(channelId, '!stop-session shop');
    await panel(/`shop@mini` <#\d+> stopped/);
    await setting.restart();
    await aWhile(2_000);
    expect([agents.starts('shop'), agents.starts('review')]).toEqual([1, 1]);
    expect(() => sessionsOf(tmux)).toThrow();
  });

  it('has sessions by !new, with settings, schedule, status and export', { timeout: 180_000 }, async () => {
    const project = await startFarProject({ defaults: { model: 'opus' }, worktreeSetup: 'echo prepared' });
    const { setting, channelId, threadOf, agent, home, repo, tmux } = project;
    await setting.say(channelId, '!new web --worktree --mode plan');
    const up = await vi.waitFor(() => setting.answer(channelId, /^▶️ `web` is up on `mini`/), SLOW);
    expect(up.content).toContain('in `~/shop` on the branch `threadmux/web`');
    const thread = await threadOf('web');
    const at = join(home, '.threadmux/worktrees/shop/web');
    expect(tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_path}')).toBe(at);
    expect((await setting.answer(thread, /done, exit code 0/)).content).toContain('prepared');
    await setting.answer(channelId, /`shop`, branch `threadmux\/web` · model `opus` · plan mode/);

    await setting.say(thread, '!set model haiku');
    await setting.untilMarked(await setting.answer(thread, /^⚙️ \*\*model\*\*: `haiku`, from this thread\./), '✅');
    expect(agent('web').noted()).toEqual([{ kind: 'slash', text: '/model haiku' }]);
    await setting.say(thread, '!set progress quiet');
    await setting.answer(thread, /^⚙️ \*\*progress\*\*: `quiet`/);
    await setting.say(thread, '!set');
    await setting.answer(thread, /\*\*model\*\*: `haiku`, from this thread\.\n\*\*mode\*\*: `plan`, from this thread/);

    await setting.say(thread, '!at +1s look at the log');
    await vi.waitFor(() => expect(agent('web').prompts()).toEqual(['look at the log']), SLOW);
    await setting.untilMarked(await setting.answer(thread, /^look at the log\n-# ⏰/), '✅');
    await setting.say(thread, '!status');
    const status = await setting.answer(thread, /\*\*`web`\*\* (?:idle|working).*on `mini`, in `/);
    expect(status.content).toContain('`shop`, branch `threadmux/web`');
    await setting.say(thread, '!export');
    expect((await setting.answer(thread, /^📄/)).attachments).toHaveLength(1);

    await setting.say(channelId, '!kill web@mini');
    await vi.waitFor(() => expect([existsSync(at), repo.branches()]).toEqual([false, ['main']]), SLOW);
  });

  it('adopts threads, holds messages at a limit, and ends a session with its thread', {
    timeout: 180_000,
  }, async () => {
    const project = await startFarProject({ threadsStart: true, onArchive: 'end', onLimit: 'hold' });
    const { host, setting, channelId, agent, tmux, untilStarts } = project;
    const { person } = setting.workspace;
    const { id } = (await person.call('POST', `/channels/${channelId}/threads`, { name: 'Fix the login!', type: 11 }))
      .body;
    await setting.untilMarked(await setting.say(id, 'the button does nothing'), '✅');
    await untilStarts('Fix-the-login', 1);
    expect(agent('Fix-the-login').prompts()).toEqual(['the button does nothing']);
    await setting.answer(id, /the button does nothing/);

    const { claudeSession = '', transcript = '', cwd = '' } = setting.shared.threads.registry.get(id) ?? {};
    const time = new Date(Date.now() + 3_600_000).toLocaleTimeString('en-US', {
      ...({ hour: 'numeric', minute: '2-digit', timeZone: 'UTC' } as const),
    });
    const said = `You've hit your session limit · resets ${time.replace(/\s([AP]M)/, (_, half: string) => half.toLowerCase())} (UTC)`;
    const input = {
      ...{ session_id: claudeSession, transcript_path: transcript, cwd, hook_event_name: 'StopFailure' },
      ...{ error: 'rate_limit', last_assistant_message: said },
    };
    const format = '#{socket_path},#{pid},0 #{pane_id}';
    const [TMUX = '', TMUX_PANE = ''] = tmux.call('display-message', '-p', '-t', '=Fix-the-login:', format).split(' ');
    spawnSync(join(host.ours, 'bin/drop'), {
      input: JSON.stringify(input),
      env: { ...host.place.env, THREADMUX_HOME: host.ours, TMUX, TMUX_PANE },
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
  });

  it('gets a worktree from the command line, which belongs to it', { timeout: 120_000 }, async () => {
    const { host, setting, tmux, home, repo, threadOf } = await startFarProject({});
    const own = {
      ...{ ...setting.machine.env, THREADMUX_TMUX_SOCKET: setting.machine.tmux.socket, THREADMUX_HOST: 'laptop' },
      ...{ SHELL: '/bin/sh', PATH: `${sshBin(host.ssh.configFile)}:${process.env.PATH}` },
    };
    await vi.waitFor(() => expect(existsSync(join(host.ours, 'bin/drop'))).toBe(true), SLOW);
    const args = [PROGRAM, 'start', 'web@mini', '--worktree', '--dir', '~/shop'];
    // Not execFileSync: the server is in this process.
    expect((await promisify(execFile)(process.execPath, args, { env: own })).stdout).toBe('web\n');
    const at = join(home, '.threadmux/worktrees/shop/web');
    expect(tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_path}')).toBe(at);
    const thread = await threadOf('web');
    await vi.waitFor(() => expect(setting.shared.worktrees.known()).toMatchObject([{ path: at, thread }]), SLOW);
    await setting.say(setting.workspace.channelId, '!kill web@mini');
    await vi.waitFor(() => expect([existsSync(at), repo.branches()]).toEqual([false, ['main']]), SLOW);
  });
});

/** The command line finds the configuration of ssh through the password file, not through HOME. */
function sshBin(configFile: string): string {
  const bin = tempFolder();
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nPATH=\${PATH#*:}; exec ssh -F '${configFile}' "$@"\n`, { mode: 0o755 });
  return bin;
}
