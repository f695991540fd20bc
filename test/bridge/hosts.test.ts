// A host that is only configured: nothing is installed there, it has no Node.js in PATH, and everything works.

import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { saveAutoThreads } from '../../home/installed.ts';
import { loadHooks } from '../../tmux/tmux-hooks.ts';
import { fixture, readIfThere, stopInput, transcriptFixture } from '../support/hook-process.ts';
import type { PromptPane } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { reconcile, type Setting, startSetting, untilPrompts, WAIT } from './bridge-setup.ts';
import {
  type Far,
  type FarHost,
  farAgent,
  farPromptPane,
  farWithHooks,
  startFar,
  startFarHost,
} from './remote-host.ts';

const texts = async (far: Far, thread: string) => (await far.answers(thread)).map(({ content }) => content);

it('a host that is only configured reports, takes messages and files and replies in order, also after it was unreachable', async () => {
  const far = await startFar();
  const claude = await farWithHooks(far, far, 'web');
  for (const text of ['one', 'two', 'three']) await far.untilMarked(await far.say(claude, text), '✅');
  await untilPrompts(claude, ['one', 'two', 'three']);
  for (const text of ['one', 'two', 'three']) await far.answer(claude, new RegExp(`${text}`));
  const replies = (await texts(far, claude.thread)).filter((text) => /(one|two|three)/.test(text));
  expect(replies).toHaveLength(3);
  expect(claude.record()).toMatchObject({ host: 'far', shell: 'no' });
  expect(far.ssh.counts.connections).toBe(1);

  // It has no token and no program of ours except three scripts.
  const root = join(far.ssh.home, '.threadmux');
  const there = readdirSync(root, { recursive: true, encoding: 'utf8' });
  expect(there.filter((name) => /(^|\/)bin\//.test(name)).sort()).toEqual(
    ['drop', 'ask', 'statusline'].map((name) => `for/laptop/bin/${name}`).sort(),
  );
  for (const name of there) {
    const path = join(root, name);
    if (!name.endsWith('bell') && existsSync(path) && !readdirSafe(path))
      expect(readFileSync(path, 'utf8')).not.toContain(far.workspace.token);
  }

  // It sends a file of its project, and none from outside.
  const project = far.place.tmux.dir;
  writeFileSync(join(project, 'chart.txt'), 'ä chart\n');
  await far.untilMarked(await far.say(claude, 'see\n[ATTACH: chart.txt]\n[ATTACH: /etc/passwd]'), '✅');
  const reply = await far.answer(claude, /outside the project/);
  expect(reply.content).not.toContain('chart.txt');
  expect(reply.attachments?.map(({ filename }) => filename)).toEqual(['chart.txt']);

  const files = [{ name: 'photo.png', data: Uint8Array.from(Buffer.from('\x89PNG', 'latin1')) }];
  const message = await far.workspace.person.say(claude.thread, 'look', { files });
  await far.untilMarked(message, '✅');
  expect(claude.prompts().at(-1)).toBe('[Image #1]look');
  expect(existsSync(join(far.ours, 'files', message.id, 'photo.png'))).toBe(true);
  const long = Array.from({ length: 1_000 }, (_, n) => `line ${n} of a reply that is long, to be cut`);
  expect(long.join('\n').length).toBeGreaterThan(11_000);
  await claude.tell('replies', long.join('\n'));
  await far.untilMarked(await far.say(claude, 'long'), '✅');
  const last = await far.answer(claude, /The whole reply is in the file/);
  const whole = await (await fetch(last.attachments[0]?.url ?? '')).text();
  expect(whole.trim()).toBe(long.join('\n'));
  const said = (await texts(far, claude.thread)).join('\n').match(/line \d+ of/g) ?? [];
  expect(said).toEqual(said.map((_, n) => `line ${n} of`));
  await far.say(claude, '!screen image');
  const shown = await far.answer(claude, /^What `web` shows:$/);
  expect(shown.attachments).toMatchObject([{ filename: 'screen.png' }]);

  await claude.tell('replies', true);
  const before = claude.prompts();
  const { port } = far.ssh;
  await far.ssh.stop();
  const waiting = await far.say(claude, 'while it is away');
  await far.untilMarked(waiting, '📨');
  await claude.tell('idle');
  expect((await texts(far, claude.thread)).join()).not.toContain('while it is away');
  await far.ssh.start(port);
  await far.untilMarked(waiting, '✅');
  await untilPrompts(claude, [...before, 'while it is away']);
});

it('a session on a host that was made by hand has a thread until it is closed, also after a rename', async () => {
  const far = await startFar();
  const { tmux } = far.place;
  saveAutoThreads(far.machine.home, true);
  tmux.call('new-session', '-d', '-s', 'keeper', 'cat');
  await reconcile(far);
  await untilActive(far, ['[agent] keeper@far']);
  const conf = join(far.ours, 'tmux.conf');
  expect(await loadHooks(tmux.tmux, conf)).toBe(true);
  const before = far.ssh.counts.connections;
  tmux.call('new-session', '-d', '-s', 'web', 'cat');
  await untilActive(far, ['[agent] keeper@far', '[agent] web@far']);
  tmux.call('rename-session', '-t', '=web', 'shop');
  await untilActive(far, ['[agent] keeper@far', '[agent] shop@far']);
  tmux.call('kill-session', '-t', '=shop');
  await untilActive(far, ['[agent] keeper@far']);
  expect(far.ssh.counts.connections).toBe(before);
});

it('the tmux in /opt that is named in the configuration is used for everything on a host', async () => {
  const [bin, opt] = [tempFolder(), join(tempFolder(), 'opt')];
  mkdirSync(opt);
  const tmux = join(opt, 'tmux');
  writeFileSync(tmux, '#!/bin/sh\nPATH=/usr/bin:/bin; exec tmux "$@"\n', { mode: 0o755 });
  for (const name of ['tmux', 'node'])
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> ${bin}/wrong; exit 127\n`, { mode: 0o755 });
  const mini = await startFarHost('mini', { path: `${bin}:/usr/bin:/bin` });
  mkdirSync(join(mini.ssh.home, 'code', 'shop'), { recursive: true });
  const file = { agents: { claude: { command: [farAgent(mini).program] } } };
  const far = await startFar({ others: [mini], roots: ['~/code'], tmux, file });
  const { channelId } = far.workspace;
  await far.say(channelId, '!new web mini');
  const up = await far.answer(channelId, /^▶️ `web` is up/);
  const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
  await far.untilMarked(await far.say(thread, 'hello'), '✅');
  await far.answer(thread, /Echo: hello/);
  await far.say(thread, '!screen image');
  await far.answer(thread, /^What `web` shows:$/);
  await far.say(channelId, '!terminal mini:shop echo printed; exit 4');
  const began = await far.answer(channelId, /^🖥️ .* is up/);
  const terminal = /<#(\d+)>/.exec(began.content)?.[1] ?? '';
  await far.answer(terminal, /^⏹️ Exited with code 4/);
  expect((await texts(far, terminal)).join()).toContain('printed');
  await far.say(channelId, '!kill web@mini');
  await vi.waitFor(() => expect(mini.place.tmux.call('list-sessions', '-F', '#S')).not.toContain('web'), WAIT);
  expect(existsSync(join(bin, 'wrong')), readIfThere(join(bin, 'wrong'))).toBe(false);
});

it('hosts with noisy login shells, a banner and a slow link start a session by !new with the hooks that were copied there', async () => {
  const agent = join(tempFolder(), 'agent');
  writeFileSync(agent, '#!/bin/sh\nexec "$HOME/agent" "$@"\n', { mode: 0o755 });
  const hosts = await Promise.all(
    ['bash', 'dash', 'zsh', 'fish', 'ash'].map(async (name) => {
      const shell = join(tempFolder(), name);
      symlinkSync(name === 'ash' ? '/bin/busybox' : whereIs(name), shell);
      const host = await startFarHost(name, { shell, banner: 'Welcome.\nBe kind.\n' });
      host.ssh.faults.latencyMs = 40;
      mkdirSync(join(host.ssh.home, '.config/fish'), { recursive: true });
      for (const file of ['.bashrc', '.bash_profile', '.zshenv', '.zshrc', '.profile', '.config/fish/config.fish'])
        writeFileSync(join(host.ssh.home, file), 'echo noise; echo "more noise" >&2\n');
      const { program, folder } = farAgent(host);
      symlinkSync(program, join(host.ssh.home, 'agent'));
      return { ...host, shell, folder };
    }),
  );
  const far = await startFar({ others: hosts, file: { agents: { claude: { command: [agent] } } } });
  const { channelId } = far.workspace;
  for (const { name, shell, folder, ours, place } of hosts) {
    await far.say(channelId, `!new in-${name} ${name}`);
    const up = await far.answer(channelId, new RegExp(`^▶️ \`in-${name}\` is up`));
    const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    const settings = join(ours, 'settings.json');
    const args = readFileSync(join(folder, 'args'), 'utf8').split('\n');
    expect(args).toEqual(expect.arrayContaining(['--settings', settings]));
    expect(readFileSync(settings, 'utf8')).toContain(join(ours, 'bin', 'drop'));
    await far.untilMarked(await far.say(thread, 'it’s `$HOME` & "two\nlines"'), '✅');
    await far.answer(thread, /Echo: it’s `\$HOME` & "two\nlines"/);
    expect(place.tmux.call('show-options', '-gv', 'default-shell')).toBe(shell);
  }
});

it('a reply from a host comes after the earlier texts of its turn, without an exec, and a turn shows what runs', async () => {
  const far = await startFar();
  await showsReplies(far);
  await showsTurn(far);
});

/** With its footer. */
async function showsReplies(far: Far): Promise<void> {
  const pane = await farPromptPane(far, far);
  const { claudeSession: session_id } = pane.record();
  mkdirSync(join(far.ours, 'status'), { recursive: true });
  const status = JSON.stringify({ session_id, model: { display_name: 'Opus 4.8' } });
  writeFileSync(join(far.ours, 'status', `${session_id}.json`), status);
  const reply = async (last: string) => {
    dropReply(far, pane, last);
    await far.answer(pane.thread, new RegExp(`^-# .*\n${last}\n-# .*Opus 4.8$`));
    const messages = await far.workspace.person.messages(pane.thread);
    return messages[1]?.content;
  };
  const outbox = join(far.ours, 'outbox'); // the pane's folder is the only one in it
  const isEmpty = () => readdirSync(outbox, { recursive: true }).length === 1;
  const costs: number[] = [];
  // Some of them include a look at the pane or at the sessions, all of them on a busy machine.
  for (let n = 0; n < 20 && !costs.includes(0); n++) {
    await vi.waitFor(() => expect(isEmpty()).toBe(true), WAIT);
    const { execs } = far.ssh.counts;
    expect(await reply(`reply ${n}`)).toBe(`before reply ${n}`);
    costs.push(far.ssh.counts.execs - execs);
  }
  expect(costs).toContain(0);
}

/** Its texts and what runs while it works, and a summary at its end. */
async function showsTurn(far: Far): Promise<void> {
  const pane = await farPromptPane(far, far, 'turn');
  const { claudeSession, transcript } = pane.record();
  // The recorded turn "steps 2".
  const lines = readFileSync(transcriptFixture(), 'utf8').split('\n').slice(8, 16);
  const write = (from: number, to: number) => appendFileSync(transcript, `${lines.slice(from, to).join('\n')}\n`);
  const prompt_id = 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7';
  const drop = (name: string, more = {}) => {
    const facts = { session_id: claudeSession, transcript_path: transcript, prompt_id };
    const env = { ...far.place.env, ...pane.env, THREADMUX_HOME: far.ours };
    const input = JSON.stringify({ ...fixture(name), ...facts, ...more });
    spawnSync(join(far.ours, 'bin', 'drop'), { input, env });
  };
  const until = (...wanted: (string | RegExp)[]) =>
    vi.waitFor(
      async () =>
        expect((await texts(far, pane.thread)).slice(2)).toEqual(
          wanted.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
        ),
      WAIT,
    );
  await pane.show('busy-status-line');
  write(0, 3);
  drop('UserPromptSubmit');
  const working = /^-# working · Bash: Show the step/;
  await until('Step 1 of 2: looking around.', working);
  write(3, 6);
  await until('Step 1 of 2: looking around.', 'Step 2 of 2: looking around.', working);
  write(6, 8);
  drop('Stop', { last_assistant_message: 'Done. The tool said: step 1\nstep 2' });
  await until(
    ...['Step 1 of 2: looking around.', 'Step 2 of 2: looking around.', /^-# Bash ×2 · \d+ s$/],
    /Done\. The tool said: step 1\nstep 2/,
  );
}

describe('several hosts and several bridges', () => {
  it('do not affect each other: two hosts with the same ids in their transcripts, then one of them unreachable', async () => {
    const mini = await startFarHost('mini');
    const far = await startFar({ others: [mini] });
    for (const host of [far, mini]) {
      const pane = await farPromptPane(far, host, 'same');
      dropReply(host, pane, 'same');
      await far.answer(pane.thread, /^-# .*\nsame/);
      expect(await texts(far, pane.thread)).toContain('before same');
    }
    const [here, there] = [await farWithHooks(far, far, 'web'), await farWithHooks(far, mini, 'web')];
    expect(here.thread).not.toBe(there.thread);
    await far.untilMarked(await far.say(here, 'to far'), '✅');
    await mini.ssh.stop();
    const late = await far.say(there, 'to mini');
    await far.untilMarked(await far.say(here, 'to far again'), '✅');
    await far.untilMarked(late, '📨');
    await far.say(far.workspace.channelId, '!sessions');
    const list = await far.answer(far.workspace.channelId, /not reachable/);
    expect(list.content).toMatch(/🔌 `mini` is not reachable since <t:\d+:R>/);
    expect(list.content).toContain('`web@far`');
    expect(list.content).toMatch(/🔌 `web@mini` <#\d+> unreachable/);
    await reconcile(far);
    await untilActive(far, ['[agent] same@far', '[agent] same@mini', '[agent] web@far', '[agent] web@mini']);
    await mini.ssh.start();
    await far.untilMarked(late, '✅');
    await far.answer(there, /Echo: to mini/);
    await far.answer(here, /Echo: to far again/);
    expect(here.prompts()).toEqual(['to far', 'to far again']);
    expect(there.prompts()).toEqual(['to mini']);
  });

  it('do not take each other’s letters', async () => {
    const far = await startFar();
    const { tmux } = far.place;
    const desk = await startSetting({
      name: 'desk',
      sshConfig: far.ssh.configFile,
      file: { hosts: { far: { ssh: 'far', socket: tmux.socket } } },
    });
    const ours = far.place.home.path('for', 'desk');
    const mine = await farWithHooks(far, far, 'web');
    const theirs = await farWithHooks(desk, { ...far, ours }, 'shop');
    for (const text of ['one', 'two', 'three']) {
      await far.untilMarked(await far.say(mine, `${text} for web`), '✅');
      await desk.untilMarked(await desk.say(theirs, `${text} for shop`), '✅');
    }
    await far.answer(mine, /Echo: three for web/);
    await desk.answer(theirs, /Echo: three for shop/);
    const echoes = async (setting: Setting) => {
      const all = await setting.workspace.bot('GET', `/guilds/${setting.workspace.guildId}/threads/active`);
      const threads = all.body.threads as { id: string }[];
      const said = await Promise.all(threads.map(({ id }) => setting.answers(id)));
      return said.flatMap((some) => some.flatMap(({ content }) => content.match(/Echo: \w+ for \w+/)?.[0] ?? []));
    };
    const wanted = (session: string) => ['one', 'two', 'three'].map((text) => `Echo: ${text} for ${session}`);
    expect(await echoes(far)).toEqual(wanted('web'));
    expect(await echoes(desk)).toEqual(wanted('shop'));
  });
});

/** What the Stop hook of Claude Code does in that pane. */
function dropReply({ ours, place }: FarHost, pane: PromptPane, last: string): void {
  const { claudeSession, transcript } = pane.record();
  appendFileSync(transcript, turnLines(last, [`before ${last}`, last]));
  const input = stopInput(last, { session_id: claudeSession, transcript_path: transcript, prompt_id: last });
  const env = { ...place.env, ...pane.env, THREADMUX_HOME: ours };
  spawnSync(join(ours, 'bin', 'drop'), { input: JSON.stringify(input), env });
}

async function untilActive({ workspace }: Setting, names: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    const { body } = await workspace.bot('GET', `/guilds/${workspace.guildId}/threads/active`);
    expect(body.threads.map(({ name }: { name: string }) => name).sort()).toEqual(names);
  }, WAIT);
}

function readdirSafe(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** A turn as Claude Code writes it. */
function turnLines(promptId: string, texts: readonly string[]): string {
  const prompt = { type: 'user', uuid: `u-${promptId}`, promptId, origin: { kind: 'human' } };
  const lines = [
    { ...prompt, message: { role: 'user', content: 'go on' } },
    ...texts.map((text, n) => ({
      type: 'assistant',
      uuid: `a-${promptId}-${n}`,
      message: { id: `m-${promptId}-${n}`, role: 'assistant', content: [{ type: 'text', text }] },
    })),
  ];
  return lines.map((line) => `${JSON.stringify({ isSidechain: false, ...line })}\n`).join('');
}

function whereIs(program: string): string {
  const found = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
  if (found === '') throw new Error(`this test needs ${program}: install it`);
  return found;
}
