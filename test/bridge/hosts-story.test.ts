// One whole story on two hosts that are only configured, through the real sshd and a fake Discord (hosts.test.ts uses the local
// workspace). In the middle one of them is unreachable for some seconds, and the other one goes on. With the real Claude Code, in
// test/agents/claude/lab/host-story.test.ts, it is a minute.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { saveAutoThreads } from '../../home/installed.ts';
import { loadHooks } from '../../tmux/tmux-hooks.ts';
import { standInAt } from '../support/fake-claude.ts';
import { processesWith, readIfThere, threadNames } from '../support/hook-process.ts';
import { buttonOf, decisionIn, promptIn, verdictOf } from '../support/prompt-pane.ts';
import { type SettingOptions, WAIT } from './bridge-setup.ts';
import { type FarHost, farAgent, farHook, farPromptPane, farWithHooks, startFar, startFarHost } from './remote-host.ts';

const LONG = Array.from({ length: 256 }, (_, n) => `line ${n} of a reply that is long, to be cut`);
const COUNT = 'i=0; while [ $i -lt 90 ]; do i=$((i+1)); echo n$i; sleep 0.1; done; exit 4';

/** Discord's stand-in. */
const servers: NonNullable<SettingOptions['servers']> = (own, { api }) => [{ ...own, name: 'discord', api }];

async function start() {
  const mini = await startFarHost('mini', { sshd: true });
  mkdirSync(join(mini.ssh.home, 'code', 'shop'), { recursive: true });
  const { program, folder } = farAgent(mini);
  const file = { agents: { claude: { command: [program] } } };
  const setting = await startFar({ sshServer: { sshd: true }, others: [mini], roots: ['~/code'], servers, file });
  return { setting, mini, claude: standInAt(folder), folder };
}

it('two hosts with sshd and no Node.js support everything, also after one was unreachable, and never have the token', {
  timeout: 600_000,
}, async () => {
  const { setting, mini, claude, folder } = await start();
  const { workspace } = setting;
  const { person, channelId, token } = workspace;
  const { tmux } = mini.place;
  const seen = watchProcesses([mini, setting]);
  const web = await farWithHooks(setting, setting, 'web');
  await setting.untilMarked(await setting.say(web, 'first'), '✅');
  const said: string[] = [];
  const echoed: string[] = [];
  const chat = async (text: string) => {
    said.push(text);
    echoed.push(text);
    return setting.say(shop, text);
  };

  await setting.say(channelId, '!new shop mini');
  const up = await setting.answer(channelId, /^▶️ `shop` is up/);
  const shop = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
  for (const text of ['one', 'two']) await setting.untilMarked(await chat(text), '✅');

  const files = [{ name: 'photo.png', data: Uint8Array.from(Buffer.from('\x89PNG', 'latin1')) }];
  const picture = await person.say(shop, 'look', { files });
  said.push('[Image #1]look');
  echoed.push('[Image #1]look');
  await setting.untilMarked(picture, '✅');
  await setting.answer(shop, /Echo: \[Image #1\]look/);

  await claude.tell('replies', LONG.join('\n'));
  said.push('a long one');
  await setting.untilMarked(await setting.say(shop, 'a long one'), '✅');
  await setting.answer(shop, /line 255 of/);
  const reply = (await setting.workspace.person.messages(shop)).toReversed().map(({ content }) => content);
  expect(reply.join('\n').match(/^line \d+ .*$/gm)).toEqual(LONG);
  await claude.tell('replies', true);

  await setting.say(shop, '!screen image');
  const shown = await setting.answer(shop, /^What `shop` shows:$/);
  expect(shown.attachments).toMatchObject([{ filename: 'screen.png' }]);

  saveAutoThreads(setting.machine.home, true);
  expect(await loadHooks(tmux.tmux, join(mini.ours, 'tmux.conf'))).toBe(true);
  tmux.call('new-session', '-d', '-s', 'byhand', 'cat');
  await untilThreads(['[agent] byhand@mini', '[agent] shop@mini', '[agent] web@far']);

  const pane = await farPromptPane(setting, mini, 'asks');
  await pane.show('dialog-permission-bash');
  const permission = farHook(mini, pane, pane.input('Bash'));
  const asked = await promptIn(workspace, pane.thread);
  await person.tap(pane.thread, asked.id, buttonOf(asked, 'Allow'));
  expect(decisionIn(await permission.printed)).toEqual({ behavior: 'allow' });
  await pane.show('busy-status-line');
  pane.result();
  expect(await verdictOf(workspace, asked)).toBe('✅ **Allowed** — you');
  await pane.show('dialog-question');
  const question = farHook(mini, pane, pane.input('AskUserQuestion'));
  const questioned = await promptIn(workspace, pane.thread);

  await setting.say(channelId, `!terminal mini:shop ${COUNT}`);
  const began = await setting.answer(channelId, /^🖥️ .* is up/);
  const terminal = /<#(\d+)>/.exec(began.content)?.[1] ?? '';
  await vi.waitFor(async () => expect(await printed(terminal)).toContain('n5\n'), WAIT);

  // Unreachable. Meanwhile a user works on the host by hand, and another one writes here.
  await mini.ssh.stop();
  await vi.waitFor(() => expect(isAway()).toBe(true), WAIT);
  tmux.call('send-keys', '-t', '=shop:', 'typed there', 'Enter');
  said.push('typed there');
  echoed.push('typed there');
  await vi.waitFor(() => expect(claude.prompts()).toEqual(said), WAIT);
  tmux.call('rename-session', '-t', '=byhand', 'renamed');
  const waiting = [await chat('three'), await chat('four')] as const;
  await setting.untilMarked(waiting[0], '📨'); // the other one waits behind it
  await person.tap(pane.thread, questioned.id, buttonOf(questioned, '2. '));
  await setting.say(channelId, '!sessions');
  await setting.answer(channelId, /`mini` is not reachable since/);
  expect(question.hasEnded()).toBe(false);
  await setting.untilMarked(await setting.say(web, 'while mini is away'), '✅');
  await setting.answer(web, /Echo: while mini is away/);

  await mini.ssh.start();
  for (const message of waiting) await setting.untilMarked(message, '✅');
  expect(claude.prompts()).toEqual(said);
  await setting.answer(shop, /Echo: four/);
  const { updatedInput } = decisionIn(await question.printed);
  expect(Object.values(updatedInput.answers)).toHaveLength(1);
  await pane.show('busy-status-line'); // as Claude does with an answer
  const all = ['[agent] asks@mini', '[agent] renamed@mini', '[agent] shop@mini', '[agent] web@far'];
  const streamed = '[terminal] shop-i-0@mini';
  await untilThreads([...all, streamed]);
  tmux.call('kill-session', '-t', '=renamed');
  await untilThreads(['([agent] renamed@mini)', ...all.filter((name) => !/renamed/.test(name)), streamed]);
  await setting.answer(terminal, /^⏹️ Exited with code 4/);
  expect((await printed(terminal)).match(/^n\d+$/gm)).toEqual(Array.from({ length: 90 }, (_, at) => `n${at + 1}`));

  const texts = (await setting.answers(shop)).map(({ content }) => content).join('\n');
  expect(texts.match(/(?<=Echo: ).*/g)).toEqual(echoed);
  const ofWeb = (await setting.answers(web)).map(({ content }) => content).join('\n');
  expect(ofWeb.match(/(?<=Echo: ).*/g)).toEqual(['first', 'while mini is away']);
  expect(web.prompts()).toEqual(['first', 'while mini is away']);
  const lines = texts.match(/line \d+ of/g) ?? [];
  expect(lines).toEqual(lines.map((_, n) => `line ${n} of`));
  for (const host of [mini, setting]) await vi.waitFor(() => expect(lettersIn(host)).toEqual([]), WAIT);
  const written = (await person.messages(pane.thread)).filter(({ content }) => /curl|Which/.test(content));
  expect(written.map(({ id }) => id).sort()).toEqual([asked.id, questioned.id].sort());

  // The search finds what was said on the host, and not the token.
  const places = [mini.ssh.home, tmux.dir, setting.ssh.home, setting.place.tmux.dir, folder];
  expect(search('typed there', places)).not.toEqual([]);
  expect(search(token, places)).toEqual([]);
  for (const { ours } of [mini, setting]) expect(seen(ours)).toBe(true);
  expect(seen(token)).toBe(false);

  async function printed(thread: string): Promise<string> {
    const blocks = (await setting.answers(thread)).filter(({ content }) => content.startsWith('```'));
    return blocks.map(({ content }) => content.replace(/^```text\n|```$/g, '')).join('');
  }
  async function untilThreads(names: readonly string[]): Promise<void> {
    await vi.waitFor(async () => expect(await threadNames(workspace)).toEqual(names.toSorted()), WAIT);
  }
  function isAway(): boolean {
    return setting.shared.remote.state('mini').kind === 'unreachable';
  }
});

function lettersIn({ ours }: FarHost): readonly string[] {
  const all = readdirSync(join(ours, 'outbox'), { recursive: true, encoding: 'utf8' });
  return all.filter((name) => /\/\d+\./.test(name));
}

/** Files that contain these words, also in their names. Sockets and FIFOs are skipped. */
function search(words: string, places: readonly string[]): readonly string[] {
  const inside = spawnSync('grep', ['-rlaF', '-D', 'skip', '--', words, ...places], { encoding: 'utf8' });
  if (inside.status !== 0 && inside.status !== 1) throw new Error(inside.stderr);
  const names = execFileSync('find', places, { encoding: 'utf8' }).split('\n');
  return [...inside.stdout.split('\n'), ...names.filter((name) => name.includes(words))].filter(Boolean);
}

/** The arguments and environment of every process of these hosts that was seen in repeated looks. */
function watchProcesses(hosts: readonly FarHost[]): (words: string) => boolean {
  const seen = new Set<string>();
  const variables = hosts.map(({ ssh }) => `HOME=${ssh.home}`);
  const look = () => {
    for (const pid of processesWith(...variables))
      for (const file of ['cmdline', 'environ']) seen.add(readIfThere(`/proc/${pid}/${file}`));
    if (process.platform === 'linux') return;
    const all = execFileSync('ps', ['axeww', '-o', 'command='], { encoding: 'utf8' });
    for (const line of all.split('\n')) if (variables.some((one) => line.includes(one))) seen.add(line);
  };
  const timer = setInterval(look, 500);
  onTestFinished(() => clearInterval(timer));
  return (words) => {
    look();
    return [...seen].some((text) => text.includes(words));
  };
}
