// Sessions are remembered: what ends a session is one message with buttons, and they, !new and `threadmux start` start it
// where it was.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { standInAt } from '../../support/fake-claude.ts';
import { tempFolder } from '../../support/temp-home.ts';
import type { WireMessage } from '../../support/workspace.ts';
import { openPageSocket } from '../../workspace/raw-socket.ts';
import { aWhile, reconcile, type Setting, type SettingOptions, startSetting, WAIT } from '../bridge-setup.ts';
import { writeAgent } from '../project-setup.ts';
import { farAgent, startFar, startFarHost } from '../remote-host.ts';
import { linked, tap } from '../tap-message.ts';

/** A fake Claude Code that notes how it was started. */
async function withAgent(options: SettingOptions = {}) {
  const folder = tempFolder();
  const program = join(folder, 'claude');
  const setting = await startSetting({
    ...options,
    file: { agents: { claude: { command: [program] } }, ...options.file },
  });
  const note = `printf '%s\\n' "$@" > ${folder}/args; pwd > ${folder}/pwd; env > ${folder}/env; : > ${folder}/started`;
  writeAgent(setting, folder, note, 'FAKE_REPORTS_ITS_END=1');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  return {
    setting,
    folder,
    program,
    channelId: setting.workspace.channelId,
    args: () => read('args').split('\n').filter(Boolean),
    pwd: () => read('pwd'),
    env: () => read('env').split('\n'),
    /** Waits until it was started since the last call. */
    started: async () => {
      await vi.waitFor(() => expect(existsSync(join(folder, 'started'))).toBe(true), WAIT);
      rmSync(join(folder, 'started'));
    },
  };
}

const labels = ({ components }: WireMessage) =>
  (components as { components: { label: string }[] }[]).flatMap((row) => row.components.map(({ label }) => label));

const isArchived = async ({ workspace }: Setting, thread: string) =>
  (await workspace.person.call('GET', `/channels/${thread}`)).body.thread_metadata.archived;

const untilArchived = (setting: Setting, thread: string, archived = true) =>
  vi.waitFor(async () => expect(await isArchived(setting, thread)).toBe(archived), WAIT);

/** What the bot has written in a thread since a message, without the reports of Claude's start. */
async function saidSince(setting: Setting, thread: string, message: { readonly id: string }) {
  const all = await setting.answers(thread);
  return all.filter(({ id }) => BigInt(id) > BigInt(message.id));
}

describe('a session that ended', () => {
  it('starts again where it was with !new: same directory and command, in the same thread', async () => {
    const agent = await withAgent();
    const { setting, channelId } = agent;
    const dir = tempFolder();
    await setting.say(channelId, `!new dup ${dir} -- ${agent.program} --model opus`);
    await agent.started();
    const thread = linked((await setting.answer(channelId, /^▶️ `dup`/)).content);
    await setting.say(channelId, '!kill dup');
    await untilArchived(setting, thread);

    await setting.say(channelId, '!new dup');
    await agent.started();
    expect([agent.pwd(), agent.args()]).toEqual([dir, ['--model', 'opus']]);
    await vi.waitFor(async () => {
      const up = (await setting.answers(channelId)).filter(({ content }) => content.startsWith('▶️ `dup`'));
      expect(up.map(({ content }) => linked(content))).toEqual([thread, thread]);
    }, WAIT);
    await untilArchived(setting, thread, false);

    const other = tempFolder();
    await setting.say(channelId, '!kill dup');
    await untilArchived(setting, thread);
    await setting.say(channelId, `!new dup ${other}`);
    await agent.started();
    expect([agent.pwd(), agent.args()]).toEqual([other, ['--model', 'opus']]);
  });

  it('is one message in its thread, with who ended it and two buttons, when !kill was given there', async () => {
    const { setting, channelId, started } = await withAgent();
    await setting.say(channelId, '!new dup');
    await started();
    const thread = linked((await setting.answer(channelId, /^▶️ `dup`/)).content);
    const before = (await setting.answers(channelId)).length;
    const order = await setting.say(thread, '!kill dup');
    await untilArchived(setting, thread);
    await reconcile(setting);
    await aWhile(2_500);
    const said = await saidSince(setting, thread, order);
    expect(said.map(({ content }) => content)).toEqual([expect.stringMatching(/^⏹️ Ended by you/)]);
    expect(said.flatMap(labels)).toEqual(['Start again', 'Continue the conversation']);
    expect(await isArchived(setting, thread)).toBe(true);
    expect((await setting.answers(channelId)).length).toBe(before);
  });

  it('is one line in its thread and a reply in the channel when !kill was given in the channel', async () => {
    const { setting, channelId, started } = await withAgent();
    await setting.say(channelId, '!new dup');
    await started();
    const thread = linked((await setting.answer(channelId, /^▶️ `dup`/)).content);
    const order = await setting.say(channelId, '!kill dup');
    const reply = await setting.answer(channelId, /^⏹️ `dup` was ended: <#\d+>/);
    expect(labels(reply)).toEqual(['Start again', 'Continue the conversation']);
    await untilArchived(setting, thread);
    await aWhile(2_500);
    const said = await saidSince(setting, thread, order);
    expect(said.map(({ content }) => content)).toEqual([expect.stringMatching(/^⏹️ Ended by you/)]);
    expect(await isArchived(setting, thread)).toBe(true);
  });

  it('is one message when it ends by itself, without the hooks of tmux', async () => {
    const { setting, channelId, started, folder } = await withAgent();
    await setting.say(channelId, '!new dup');
    await started();
    const thread = linked((await setting.answer(channelId, /^▶️ `dup`/)).content);
    const up = await setting.answer(thread, /^▶️ Claude started/);
    await standInAt(folder).tell('exit', true);
    await untilArchived(setting, thread);
    await aWhile(1_000);
    const said = await saidSince(setting, thread, up);
    expect(said.map(({ content }) => content)).toEqual(['⏹️ The session has ended.']);
    expect(said.flatMap(labels)).toEqual(['Start again', 'Continue the conversation']);
  });
});

describe('the buttons of a session that ended', () => {
  it('start it again or continue its conversation, once, also after a restart of the bridge', async () => {
    const agent = await withAgent();
    const { setting, channelId } = agent;
    const dir = tempFolder();
    await setting.say(channelId, `!new dup ${dir} -- ${agent.program} --model opus "do it"`);
    await agent.started();
    const thread = linked((await setting.answer(channelId, /^▶️ `dup`/)).content);
    const first = setting.shared.threads.registry.get(thread)?.claudeSession ?? '';
    expect(first).toMatch(/^stand-in-/);
    await setting.say(thread, '!kill dup');
    await untilArchived(setting, thread);
    const notice = await setting.answer(thread, /^⏹️ Ended/);
    await setting.restart();

    await tap(setting, notice, 'Continue the conversation');
    await agent.started();
    // A prompt that was part of the command is not submitted a second time.
    expect([agent.pwd(), agent.args()]).toEqual([dir, ['--model', 'opus', '--resume', first]]);
    await setting.answer(thread, /^⏹️ Ended\. ▶️ Continued by you\.$/);
    await untilArchived(setting, thread, false);
    await vi.waitFor(() => expect(setting.shared.threads.registry.get(thread)?.claudeSession).not.toBe(first), WAIT);

    await setting.say(thread, '!kill dup');
    await untilArchived(setting, thread);
    const second = await setting.answer(thread, /^⏹️ Ended by you/);
    await tap(setting, second, 'Start again');
    await agent.started();
    expect([agent.pwd(), agent.args()]).toEqual([dir, ['--model', 'opus', '"do', 'it"']]);
    await setting.answer(thread, /^⏹️ Ended\. ▶️ Started again by you\.$/);
  });

  it('say that it already runs, and start nothing', async () => {
    const agent = await withAgent();
    const { setting, channelId } = agent;
    await setting.say(channelId, '!new dup');
    await agent.started();
    const thread = linked((await setting.answer(channelId, /^▶️ `dup`/)).content);
    await setting.say(channelId, '!kill dup');
    const reply = await setting.answer(channelId, /^⏹️ `dup` was ended/);
    await untilArchived(setting, thread);
    await setting.say(channelId, '!new dup');
    await agent.started();
    // Only then is its thread known.
    await vi.waitFor(async () => {
      const said = await setting.workspace.person.messages(channelId);
      expect(said.filter(({ content }) => content.startsWith('▶️ `dup`'))).toHaveLength(2);
    }, WAIT);
    const notice = await setting.answer(thread, /^⏹️ Ended by you/);
    const page = await openPageSocket(setting.workspace);
    for (const [at, one] of [notice, reply].entries()) {
      await tap(setting, one, 'Start again');
      await vi.waitFor(() => {
        const whispers = page.heard.filter(({ t, d }) => t === 'MESSAGE_CREATE' && d.flags & 64);
        expect(whispers.map(({ d }) => d.content)).toHaveLength(at + 1);
        expect(whispers[at]?.d.content).toBe(`\`dup\` already runs: <#${thread}>`);
      }, WAIT);
    }
    await aWhile(500);
    expect(existsSync(join(agent.folder, 'started'))).toBe(false);
  });

  it('work for a session on another host', async () => {
    const mini = await startFarHost('mini');
    const { program, folder } = farAgent(mini);
    const far = await startFar({ others: [mini], file: { agents: { claude: { command: [program] } } } });
    const { channelId } = far.workspace;
    const dir = join(mini.ssh.home, 'shop');
    mkdirSync(dir);
    await far.say(channelId, '!new web mini ~/shop');
    const thread = linked((await far.answer(channelId, /^▶️ `web`/)).content);
    const first = far.shared.threads.registry.get(thread)?.claudeSession;
    rmSync(join(folder, 'args'));
    await far.say(thread, '!kill web@mini');
    await untilArchived(far, thread);
    await tap(far, await far.answer(thread, /^⏹️ Ended by you/), 'Continue the conversation');
    await vi.waitFor(() => expect(readFileSync(join(folder, 'args'), 'utf8')).toContain(`--resume\n${first}\n`), WAIT);
    await far.answer(thread, /▶️ Continued by you/);
    expect(mini.place.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_path}')).toBe(dir);
    await far.say(channelId, '!kill web@mini');
    await untilArchived(far, thread);
    rmSync(join(folder, 'args'));
    await far.say(channelId, '!new web');
    await vi.waitFor(() => expect(readFileSync(join(folder, 'args'), 'utf8')).not.toContain('--resume'), WAIT);
    expect(mini.place.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_current_path}')).toBe(dir);
  });
});

describe('an agent that quits at once', () => {
  it.each([
    ['', 'It printed nothing.'],
    ['echo "Not logged in: run /login"', 'Not logged in: run /login'],
  ])('is reported with its exit code and its last lines: %s', async (script, said) => {
    const folder = tempFolder();
    const quits = join(folder, 'claude');
    writeFileSync(quits, `#!/bin/sh\n${script}\nexit 3\n`, { mode: 0o755 });
    const setting = await startSetting({ file: { agents: { claude: { command: [quits] } } } });
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!new shop');
    const told = await setting.answer(channelId, /^⚠️ `shop` quit at once \(exit code 3\)/);
    expect(told.content).toContain(said);
    expect(told.content).not.toContain('Pane is dead');
    expect(() => setting.machine.tmux.call('has-session', '-t', '=shop')).toThrow();
  });

  it('leaves an archived thread that says why, or none', async () => {
    const folder = tempFolder();
    const quits = join(folder, 'claude');
    writeFileSync(quits, '#!/bin/sh\nsleep 2\necho Unable to connect\nexit 3\n', { mode: 0o755 });
    const setting = await startSetting({ file: { agents: { claude: { command: [quits] } } } });
    const { channelId } = setting.workspace;
    await setting.say(channelId, `!new slow ${folder}`);
    await setting.answer(channelId, /^⚠️ `slow` quit at once/);
    const [record] = setting.shared.threads.registry.all();
    const thread = record?.thread ?? '';
    await setting.answer(
      thread,
      /^⏹️ It quit at once \(exit code 3\)\. Its last lines:\n```[\s\S]*Unable to connect[\s\S]*```\n`!new slow`/,
    );
    await untilArchived(setting, thread);
    writeFileSync(quits, '#!/bin/sh\nexit 3\n', { mode: 0o755 });
    await setting.say(channelId, `!new quick ${folder}`);
    await setting.answer(channelId, /^⚠️ `quick` quit at once/);
    const welcomes = (await setting.answers(channelId)).filter(({ content }) => content.startsWith('**'));
    for (const { content } of welcomes) expect(content).toContain(`in \`${folder}\``);
  });

  it('does not keep its pane when the bridge was killed while it started', async () => {
    const folder = tempFolder();
    const starts = join(folder, 'claude');
    writeFileSync(starts, `#!/bin/sh\nwhile [ ! -e ${folder}/quit ]; do sleep 0.1; done\n`, { mode: 0o755 });
    const setting = await startSetting({ file: { agents: { claude: { command: [starts] } } } });
    const { tmux } = setting.machine;
    const kept = () => tmux.call('show-options', '-p', '-t', '=shop:');
    await setting.say(setting.workspace.channelId, '!new shop');
    await vi.waitFor(() => expect(kept()).toContain('remain-on-exit on'), WAIT);
    await setting.restart({ startsMs: 3_000 });
    await vi.waitFor(() => expect(kept()).toBe(''), { ...WAIT, timeout: 10_000 });
    writeFileSync(join(folder, 'quit'), '');
    await vi.waitFor(() => expect(() => tmux.call('has-session', '-t', '=shop')).toThrow(), WAIT);
  });

  it('is reported with at most ten lines of sixty columns', async () => {
    const folder = tempFolder();
    const quits = join(folder, 'claude');
    writeFileSync(quits, `#!/bin/sh\nseq 1 100; printf 'word %.0s' $(seq 1 30); exit 1\n`, { mode: 0o755 });
    const setting = await startSetting({ file: { agents: { claude: { command: [quits] } } } });
    await setting.say(setting.workspace.channelId, '!new shop');
    const { content } = await setting.answer(setting.workspace.channelId, /^⚠️ `shop` quit at once/);
    const lines = /```\n([\s\S]*)\n```/.exec(content)?.[1]?.split('\n') ?? [];
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe('94');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(60);
  });
});

describe('the environment of a session', () => {
  it('has the listed variables of threadmux, which no other program can read on a command line', async () => {
    const secret = 'sk-secret-$(touch pwned) \'"\\ x';
    const agent = await withAgent({
      env: {
        PATH: process.env.PATH,
        HOME: tempFolder(),
        SHELL: '/bin/sh',
        ANTHROPIC_API_KEY: secret,
        CLAUDE_CONFIG_DIR: '/c',
        https_proxy: 'http://p',
        LC_TIME: 'C',
        CLAUDECODE: '1',
        CLAUDE_CODE_ENTRYPOINT: 'cli',
        DISCORD_BOT_TOKEN: 'bot',
        OTHER: 'x',
      },
    });
    const { setting, channelId } = agent;
    const seen = new Set<string>();
    const watching = setInterval(() => {
      for (const line of execFileSync('ps', ['-eo', 'args=', 'ww'], { encoding: 'utf8' }).split('\n')) seen.add(line);
    }, 20);
    await setting.say(channelId, '!new dup');
    await agent.started();
    await setting.answer(channelId, /^▶️ `dup`/);
    clearInterval(watching);
    const env = agent.env();
    expect(env).toEqual(
      expect.arrayContaining([
        `ANTHROPIC_API_KEY=${secret}`,
        'CLAUDE_CONFIG_DIR=/c',
        'https_proxy=http://p',
        'LC_TIME=C',
      ]),
    );
    expect(env.filter((one) => /^(CLAUDECODE|CLAUDE_CODE_ENTRYPOINT|DISCORD_BOT_TOKEN|OTHER)=/.test(one))).toEqual([]);
    expect([...seen].filter((line) => line.includes('sk-secret'))).toEqual([]);
    expect(setting.log.join('\n')).not.toContain('sk-secret');
    expect(setting.machine.tmux.call('show-environment', '-t', '=dup')).not.toContain('sk-secret');
    expect(existsSync(join(agent.pwd(), 'pwned'))).toBe(false);
  });

  it.each(['/bin/sh', '/bin/bash'])('has the PATH of threadmux if %s does not find the agent', async (shell) => {
    const bin = tempFolder();
    writeFileSync(join(bin, 'my-claude'), '#!/bin/sh\necho "I am $ANTHROPIC_MODEL"; exec cat\n', { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: tempFolder(), SHELL: shell, ANTHROPIC_MODEL: 'opus' };
    const setting = await startSetting({ env, file: { agents: { claude: { command: ['my-claude'] } } } });
    setting.machine.tmux.call('new-session', '-d', '-s', 'first', 'cat');
    setting.machine.tmux.call('set-option', '-g', 'default-shell', shell);
    await setting.say(setting.workspace.channelId, '!new shop');
    await vi.waitFor(() => {
      const screen = setting.machine.tmux.call('capture-pane', '-p', '-t', '=shop:');
      expect(screen).toContain('I am opus');
    }, WAIT);
  });

  it('of a session on another host has nothing of this one', async () => {
    const mini = await startFarHost('mini');
    const { program, folder } = farAgent(mini);
    const env = { PATH: process.env.PATH, HOME: tempFolder(), SHELL: '/bin/sh', ANTHROPIC_API_KEY: 'sk-secret' };
    const far = await startFar({ others: [mini], env, file: { agents: { claude: { command: [program] } } } });
    await far.say(far.workspace.channelId, '!new web mini');
    await far.answer(far.workspace.channelId, /^▶️ `web`/);
    const pid = mini.place.tmux.call('display-message', '-p', '-t', '=web:', '#{pane_pid}');
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('sk-secret');
    expect(existsSync(folder)).toBe(true);
  });
});
