// A session with a worktree of its own: made before the agent starts, removed when the session ends, kept if it has work.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { projectName } from '../../core/project.ts';
import { parseSessionName } from '../../core/session-name.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { PROGRAM } from '../bin/cli.ts';
import { tempFolder } from '../support/temp-home.ts';
import type { WireMessage } from '../support/workspace.ts';
import { makeRepo } from '../support/worktree-repo.ts';
import { reconcile, type Setting, type SettingOptions, startSetting, WAIT } from './bridge-setup.ts';
import { writeAgent } from './project-setup.ts';
import { farAgent, startFar, startFarHost } from './remote-host.ts';
import { linked, tap } from './tap-message.ts';

const SLOW = { ...WAIT, timeout: 60_000 } as const;

/** A fake Claude Code that notes where it was started. */
async function withAgent(options: SettingOptions = {}) {
  const folder = tempFolder();
  const program = join(folder, 'claude');
  const setting = await startSetting({
    ...options,
    file: { agents: { claude: { command: [program] } }, ...options.file },
  });
  const note = `pwd > ${folder}/pwd.new; mv ${folder}/pwd.new ${folder}/pwd; printf '%s\\n' "$@" > ${folder}/args`;
  writeAgent(setting, folder, note, 'FAKE_REPORTS_ITS_END=1');
  const { channelId } = setting.workspace;
  return {
    setting,
    folder,
    channelId,
    worktrees: join(realpathSync(setting.machine.home.root), 'worktrees'),
    args: () => readFileSync(join(folder, 'args'), 'utf8').split('\n').filter(Boolean),
    /** Where it was started since the last call. */
    pwd: () =>
      vi.waitFor(() => {
        const at = readFileSync(join(folder, 'pwd'), 'utf8').trim();
        rmSync(join(folder, 'pwd'));
        return at;
      }, SLOW),
    /** The number of the answers that say it is up, and the last thread. */
    up: (times: number) =>
      vi.waitFor(async () => {
        const all = (await setting.answers(channelId)).filter(({ content }) => content.startsWith('▶️'));
        expect(all.length).toBe(times);
        return linked(all.at(-1)?.content ?? '');
      }, SLOW),
  };
}

const until = (isSo: () => boolean) => vi.waitFor(() => expect(isSo(), String(isSo)).toBe(true), SLOW);

describe('a session with a worktree', () => {
  it('starts there after the set-up, belongs to its project, and is removed with it', async () => {
    const repo = makeRepo();
    const worktreeSetup = 'echo "in $PWD"; touch made-by-set-up; exit 3';
    const agent = await withAgent({
      servers: (own) => [
        {
          ...own,
          projects: [
            {
              path: repo.path,
              channel: own.channel,
              name: parseSessionName('shop'),
              defaults: { worktree: true },
              worktreeSetup,
            },
          ],
        },
      ],
    });
    const { setting, channelId, worktrees } = agent;
    await setting.say(channelId, `!new web ${repo.path}/sub`);
    expect(await agent.pwd()).toBe(join(worktrees, 'shop/web/sub'));
    const thread = await agent.up(1);
    expect((await setting.answers(channelId)).at(-1)?.content).toContain('on the branch `threadmux/web`');
    const setUp = await setting.answer(thread, /failed with exit code 3. The session starts anyway/);
    expect(setUp.content).toContain(`in ${join(worktrees, 'shop/web/sub')}`);
    expect(
      setting.shared.threads.destinationOf({ host: 'laptop', directory: join(worktrees, 'shop/web') })?.project.name,
    ).toBe('shop');
    // Only the folder that we made counts, not one with the same name.
    const imitated = join(tempFolder(), '.threadmux/worktrees/shop/web');
    expect(setting.shared.threads.destinationOf({ host: 'laptop', directory: imitated })?.project.name).toBe('');

    rmSync(join(worktrees, 'shop/web/sub/made-by-set-up'));
    await setting.say(channelId, '!kill web');
    await until(() => !existsSync(join(worktrees, 'shop')) && repo.branches().join() === 'main');
  });

  it('keeps its work, which is removed only by its own buttons, and gets the same folder when it is continued', async () => {
    const repo = makeRepo();
    const agent = await withAgent({ file: { defaults: { worktree: true } } });
    const { setting, channelId } = agent;
    await setting.say(channelId, `!new web ${tempFolder()}`);
    await setting.answer(channelId, /is not in a git repository, so there is no worktree and nothing was started/);
    expect(await listSessions(setting.shared.hosts.tmux('laptop'))).toEqual([]);
    expect(setting.shared.worktrees.known()).toEqual([]);

    await setting.say(channelId, `!new web ${repo.path}`);
    const at = await agent.pwd();
    const thread = await agent.up(1);
    writeFileSync(join(at, 'new.txt'), 'work\n');
    await setting.say(channelId, '!kill web');
    const kept = await setting.answer(thread, /The worktree is kept: it has 1 changed file\./);
    expect(kept.content).toContain('?? new.txt');
    await tap(setting, kept, 'Keep');
    await setting.answer(thread, /`!new web` starts the session there again/);
    const { env, tmux } = setting.machine;
    const own = { ...env, THREADMUX_TMUX_SOCKET: tmux.socket, THREADMUX_HOST: 'laptop' };
    execFileSync(process.execPath, [PROGRAM, 'start', 'web', '--', 'sleep', '1000'], { env: own, stdio: 'pipe' });
    expect(tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_path}')).toBe(at);
    tmux.call('kill-session', '-t', 'web');

    await setting.say(channelId, '!new web');
    expect(await agent.pwd()).toBe(at);
    await agent.up(2);
    writeFileSync(join(at, 'other.txt'), 'more\n');
    // It ends by itself, while the bridge is away.
    await setting.stop();
    setting.machine.tmux.call('kill-session', '-t', 'web');
    await setting.restart();
    const again = await setting.answer(thread, /it has 2 changed files\./);
    await tap(setting, again, 'Show the diff');
    await setting.answer(thread, /\+more/);
    await tap(setting, again, 'Remove anyway');
    const really = await setting.answer(thread, /This cannot be undone/);
    expect(existsSync(join(at, 'new.txt'))).toBe(true);
    // A copy of the button in another thread does nothing.
    const { content, components } = really;
    const other = await setting.claude('other');
    const { body } = await setting.workspace.bot('POST', `/channels/${other.thread}/messages`, { content, components });
    await tap(setting, body as WireMessage, 'Remove it for good');
    await setting.answer(other.thread, /This worktree no longer exists/);
    expect(existsSync(join(at, 'new.txt'))).toBe(true);
    await tap(setting, really, 'Remove it for good');
    await setting.answer(thread, /The worktree and its branch `threadmux\/web` were removed/);
    expect([existsSync(at), repo.branches()]).toEqual([false, ['main']]);

    // Its conversation is continued after the removal.
    await setting.say(channelId, `!new shop ${repo.path}`);
    const there = await agent.pwd();
    const shop = await agent.up(3);
    await setting.say(channelId, '!kill shop');
    await until(() => !existsSync(there));
    await tap(setting, await setting.answer(shop, /^⏹️/), 'Continue the conversation');
    await until(() => agent.args().includes('--resume')); // before that, its place is still that of the last start
    expect(await agent.pwd()).toBe(there);
  });
});

describe('threadmux start --worktree', () => {
  async function withProject() {
    const repo = makeRepo();
    const shop = {
      path: repo.path,
      name: parseSessionName('shop'),
      worktreeSetup: 'echo preparing; echo done > ready',
    };
    const agent = await withAgent({
      live: true,
      file: { projects: [shop] },
      servers: (own) => [{ ...own, projects: [{ ...shop, channel: own.channel }] }],
    });
    const { env, tmux } = agent.setting.machine;
    const own = { ...env, THREADMUX_TMUX_SOCKET: tmux.socket, THREADMUX_HOST: 'laptop', SHELL: '/bin/sh' };
    const cli = (...args: string[]) =>
      spawnSync(process.execPath, [PROGRAM, ...args], { env: own, cwd: repo.path, encoding: 'utf8' });
    return { repo, agent, cli, at: join(agent.worktrees, 'shop/web') };
  }
  const threadOf = ({ shared }: Setting) => shared.threads.registry.all().find((one) => one.sessionName === 'web');

  it('runs the set-up, starts there, and belongs to its project; the bridge, or the next one, ends it', async () => {
    const { repo, agent, cli, at } = await withProject();
    const failed = cli('start', 'web', '--worktree', '--dir', tempFolder());
    expect(failed).toMatchObject({ status: 2, stdout: '' });
    expect(failed.stderr).toMatch(/is not in a git repository, so there is no worktree and nothing was started/);
    expect(cli('sessions', '--names').stdout).toBe('');
    const { setting } = agent;
    const started = cli('start', 'web', '--worktree');
    expect(started).toMatchObject({ status: 0, stdout: 'web\n' });
    expect(started.stderr).toMatch(
      /^preparing\n[\s\S]*Made the worktree .*shop\/web, branch threadmux\/web\.\nStarted/,
    );
    expect([await agent.pwd(), readFileSync(join(at, 'ready'), 'utf8')]).toEqual([at, 'done\n']);
    await vi.waitFor(() => expect(threadOf(setting)?.thread).toBeDefined(), SLOW);
    const thread = threadOf(setting)?.thread ?? '';
    expect(setting.shared.threads.destinationOf({ host: 'laptop', directory: at })?.project.name).toBe('shop');
    await vi.waitFor(() => expect(setting.shared.worktrees.known()).toMatchObject([{ name: 'web', thread }]), SLOW);
    expect(readdirSync(setting.machine.home.path('state', 'new-worktrees'))).toEqual([]);

    expect(cli('kill', 'web').status).toBe(0);
    await reconcile(setting);
    await setting.answer(thread, /The worktree is kept: it has 1 changed file\./);
    // It is used again, also without the option, and its set-up does not run twice.
    rmSync(join(at, 'ready'));
    expect(cli('start', 'web').stderr).toMatch(/^Using the worktree/);
    expect([await agent.pwd(), existsSync(join(at, 'ready'))]).toEqual([at, false]);
    await until(() => threadOf(setting)?.closed === false);
    expect(cli('kill', 'web').status).toBe(0);
    await reconcile(setting);
    await until(() => !existsSync(at) && repo.branches().join() === 'main');

    // While no bridge runs, the next one ends it.
    await setting.stop();
    expect(cli('new', 'web', '--worktree', '--', 'sleep', '1000')).toMatchObject({ status: 0 });
    rmSync(join(at, 'ready'));
    cli('kill', 'web');
    await setting.restart();
    await until(() => !existsSync(at) && repo.branches().join() === 'main');
    await until(() => setting.shared.worktrees.known().length === 0);
  });
});

it('works on another host, which has only sh and git', async () => {
  const host = await startFarHost('mini');
  const repo = makeRepo(join(realpathSync(host.ssh.home), 'shop'));
  const { program, folder } = farAgent(host);
  const project = { path: '~/shop', host: 'mini', defaults: { worktree: true }, worktreeSetup: 'echo prepared' };
  const setting = await startFar({
    others: [host],
    file: { agents: { claude: { command: [program] } } },
    servers: (own) => [{ ...own, projects: [{ ...project, channel: own.channel }] }],
  });
  const { channelId } = setting.workspace;
  await setting.say(channelId, '!new web mini ~/shop');
  const up = await vi.waitFor(() => setting.answer(channelId, /^▶️ `web` is up on the branch `threadmux\/web`/), SLOW);
  const thread = linked(up.content);
  const at = join(realpathSync(host.ssh.home), '.threadmux/worktrees/shop/web');
  expect(readdirSync(at)).toEqual(['.git', 'a.txt', 'sub']);
  expect((await setting.answer(thread, /done, exit code 0/)).content).toContain('prepared');
  expect(setting.shared.worktrees.known()).toMatchObject([{ host: 'mini', name: 'web', branch: 'threadmux/web' }]);
  expect(existsSync(folder)).toBe(true);
  host.place.tmux.call('kill-session', '-t', 'web');
  await reconcile(setting);
  await until(() => !existsSync(at) && repo.branches().join() === 'main');
});

it('finds what a bridge left that was killed while it made a worktree', async () => {
  const repo = makeRepo();
  const agent = await withAgent({ file: { defaults: { worktree: true } } });
  const { setting, worktrees } = agent;
  const { worktrees: ours } = setting.shared;
  const made = await ours.prepare({
    host: 'laptop',
    directory: repo.path,
    project: undefined,
    session: parseSessionName('web'),
  });
  expect(existsSync(made.path)).toBe(true);
  await setting.stop();
  // It was killed before it knew the name.
  const left = ours.known().map((one) => ({ ...one, name: '', path: '', start: '', state: 'making' }));
  writeFileSync(setting.machine.home.path('state', 'worktrees.json'), JSON.stringify(left));
  await setting.restart();
  await until(() => !existsSync(made.path) && repo.branches().join() === 'main');
  await until(() => setting.shared.worktrees.known().length === 0);
  expect(readdirSync(worktrees)).toEqual(['.removing']);
});

it('finds worktrees that nobody knows any more, and notices one whose folder was removed', async () => {
  const repo = makeRepo();
  const agent = await withAgent({
    file: { defaults: { worktree: true } },
    servers: (own) => [{ ...own, name: 'discord', projects: [{ path: repo.path, channel: own.channel, panel: true }] }],
  });
  const { setting, channelId } = agent;
  await setting.say(channelId, `!new web ${repo.path}`);
  const at = await agent.pwd();
  const thread = await agent.up(1);
  writeFileSync(join(at, 'new.txt'), 'work\n');
  execFileSync('git', ['-C', at, 'add', '.']);
  execFileSync('git', ['-C', at, '-c', 'user.name=a', '-c', 'user.email=a@a', 'commit', '-q', '-m', 'work']);
  await setting.say(channelId, '!kill web');
  await setting.answer(thread, /The worktree is kept: it has 1 commit/);
  const panel = /Worktrees without a session\*\*\n🌿 `[^`]+\/web`/;
  await setting.answer(channelId, panel);
  await setting.stop();
  rmSync(setting.machine.home.path('state', 'worktrees.json'));
  await setting.restart();
  await vi.waitFor(() => expect(setting.shared.worktrees.known()).toMatchObject([{ path: at, state: 'kept' }]), SLOW);
  await setting.answer(channelId, panel);

  rmSync(at, { recursive: true });
  await setting.restart();
  await until(() => setting.shared.worktrees.known().length === 0);
  // Its commit is still on its branch.
  expect(repo.branches()).toEqual(['main', 'threadmux/web']);
});

it('starts the session if the bridge ends while the set-up runs', async () => {
  const repo = makeRepo();
  const go = join(tempFolder(), 'go');
  const worktreeSetup = `echo waiting; until [ -e ${go} ]; do sleep 0.1; done`;
  const agent = await withAgent({ file: { defaults: { worktree: true }, worktreeSetup } });
  const { setting, channelId } = agent;
  await setting.say(channelId, `!new web ${repo.path}`);
  const thread = await vi.waitFor(() => {
    const [one] = setting.shared.worktrees.known().filter(({ isSettingUp }) => isSettingUp);
    if (one === undefined) throw new Error('no set-up yet');
    return one.thread;
  }, SLOW);
  await setting.answer(thread, /waiting/);
  expect(existsSync(join(agent.folder, 'pwd'))).toBe(false);
  await setting.stop();
  await setting.restart();
  await setting.answer(thread, /restarted while the set-up of the worktree ran/);
  expect(await agent.pwd()).toBe(join(agent.worktrees, projectName(repo.path), 'web'));
  writeFileSync(go, '');
});
