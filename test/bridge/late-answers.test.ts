// What a user does with something that the server shows already, while the bot still waits for the server's answer.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import type { FaultyRequest } from '../support/as-discord.mjs';
import { isNewThread, isPost, lateAnswer } from '../support/late-answer.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, type Setting, startSetting, WAIT } from './bridge-setup.ts';
import { startProject } from './project-setup.ts';
import { become, linked, tap } from './tap-message.ts';
import { untilPrinted } from './terminal-output.ts';

const threadCalled = ({ workspace }: Setting, title: string): Promise<string> =>
  vi.waitFor(async () => {
    const { body } = await workspace.person.call('GET', `/guilds/${workspace.guildId}/threads/active`);
    const found = body.threads.find(({ name }: { name: string }) => name === title);
    expect(found).toBeDefined();
    return found.id;
  }, WAIT);

const isArchived = async ({ workspace }: Setting, thread: string) =>
  (await workspace.person.call('GET', `/channels/${thread}`)).body.thread_metadata.archived;

describe('a message in a thread that was just created', () => {
  it('is typed into its terminal', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'shop'));
    const late = lateAnswer(isNewThread);
    const setting = await startSetting({ faults: late.faults, file: { roots: [root] } });
    await setting.say(setting.workspace.channelId, '!terminal shop while read line; do echo "heard $line"; done');
    const thread = await threadCalled(setting, '[terminal] shop-while');
    const message = await setting.say(thread, 'hello');
    await aWhile(500);
    late.answerNow();
    await untilPrinted(setting, thread, 'heard hello');
    await setting.untilMarked(message, '✅');
  });

  it('is the second prompt of its headless agent', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'shop'));
    const late = lateAnswer(isNewThread);
    const fake = fileURLToPath(new URL('../support/headless-claude.mjs', import.meta.url));
    const command = ['env', `CLAUDE_FAKE_LOG=${join(root, 'log')}`, process.execPath, fake];
    const setting = await startSetting({
      faults: late.faults,
      file: { roots: [root], agents: { claude: { command } } },
    });
    await setting.say(setting.workspace.channelId, '!agent shop first');
    const thread = await threadCalled(setting, '[headless] shop-agent');
    const message = await setting.say(thread, 'second');
    await aWhile(500);
    late.answerNow();
    await setting.untilMarked(message, '✅');
    await setting.answer(thread, /^Echo: second/);
    const said = (await setting.answers(thread)).flatMap(({ content }) => content.match(/^Echo: .*/) ?? []);
    expect(said).toEqual(['Echo: first', 'Echo: second']);
  });

  it('reaches its session', async () => {
    const late = lateAnswer(isNewThread);
    const { setting, channelId, claude } = await startProject({}, { faults: late.faults });
    await setting.say(channelId, '!new shop');
    const thread = await threadCalled(setting, '[agent] shop');
    const message = await setting.say(thread, 'hello');
    await aWhile(500);
    late.answerNow();
    await setting.answer(channelId, /^▶️ `shop`/);
    await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(['hello']);
  });
});

describe('Start again', () => {
  it.each(['by !kill', 'by itself'])('tapped under the end of a session %s, starts one that stays', async (how) => {
    const late = lateAnswer(isPost('Start again'));
    const { setting, channelId, starts } = await startProject({}, { faults: late.faults });
    await setting.say(channelId, '!new shop');
    const thread = linked((await setting.answer(channelId, /^▶️ `shop`/)).content);
    if (how === 'by !kill') await setting.say(thread, '!kill shop');
    else {
      setting.machine.tmux.call('kill-session', '-t', '=shop');
      setting.shared.sessionsChanged.tell();
    }
    const ended = await setting.answer(thread, /^⏹️/);
    await tap(setting, ended, 'Start again');
    await vi.waitFor(() => expect(starts()).toBe(2), WAIT);
    await aWhile(1_000);
    late.answerNow();
    await aWhile(1_500);
    expect(await isArchived(setting, thread)).toBe(false);
    expect(setting.shared.threads.registry.get(thread)).toMatchObject({ closed: false, archived: 'no' });
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
  });
});

describe('Retry', () => {
  it('tapped before the failed message has its ⚠️, types it again', async () => {
    const onRequest = ({ method, path }: { method: string; path: string }) =>
      method === 'PUT' && path.includes(encodeURIComponent('⚠️')) ? { kind: 'delay' as const, ms: 2_000 } : undefined;
    const setting = await startSetting({ faults: { onRequest } });
    const claude = await setting.claude('web', { inShell: true });
    await claude.tell('dialog', 'make');
    const message = await setting.say(claude, 'hello');
    await setting.untilMarked(message, '📨');
    await claude.tell('exit');
    const failed = await setting.answer(claude, /^⚠️ Not delivered\./);
    const next = await setting.claude('web', { again: true });
    await tap(setting, failed, 'Retry');
    await setting.untilMarked(message, '✅');
    expect(next.prompts()).toEqual(['hello']);
  });
});

describe('the card of a dialog', () => {
  it('is answered by a tap also if the answer to its message was lost', async () => {
    const isCard = isPost('dialog:');
    let count = 0;
    const onRequest = (request: FaultyRequest) =>
      isCard(request) && count++ === 0 ? { kind: 'apply-then-answer' as const, status: 400 } : undefined;
    const setting = await startSetting({ faults: { onRequest } });
    const claude = await setting.claude('web', { replies: false });
    await claude.tell('choice', {
      title: 'Accessing workspace:',
      options: ['No, exit', 'Yes, I trust this folder'],
      at: 0,
    });
    const card = await setting.answer(claude, /Accessing workspace/);
    await aWhile(500);
    await tap(setting, card, 'Yes, I trust');
    await become(setting, card, /^✅ \*\*Accessing workspace:\*\* Yes, I trust this folder — /);
    expect(claude.noted().filter(({ kind }) => kind === 'chosen')).toHaveLength(1);
  });
});

describe('the question about a slash command', () => {
  it('is answered by a tap that comes before the answer of the server, and then it is over', async () => {
    const late = lateAnswer(isPost('held:'));
    const setting = await startSetting({ faults: late.faults });
    const claude = await setting.claude('web');
    const message = await setting.say(claude, '/login');
    const question = await setting.answer(claude, /^❔/);
    await tap(setting, question, 'Run /login');
    await setting.untilMarked(message, '✅');
    late.answerNow();
    await vi.waitFor(async () => {
      const open = (await setting.answers(claude)).filter(({ components }) => (components ?? []).length > 0);
      expect(open).toEqual([]);
    }, WAIT);
    expect(claude.noted().map(({ text }) => text)).toEqual(['/login']);
  });
});

it('the output of a terminal continues below what was written before the server answered', async () => {
  const root = tempFolder();
  mkdirSync(join(root, 'shop'));
  const late = lateAnswer(isPost('alpha'));
  const setting = await startSetting({ faults: late.faults, file: { roots: [root] } });
  const { channelId, person } = setting.workspace;
  await setting.say(channelId, '!terminal shop echo al""pha; while read line; do echo "heard $line"; done');
  const thread = linked((await setting.answer(channelId, /is up/)).content);
  await setting.answer(thread, /alpha/);
  await setting.untilMarked(await setting.say(thread, 'hi'), '✅');
  late.answerNow();
  await untilPrinted(setting, thread, 'heard hi');
  const all = (await person.messages(thread)).toReversed().map(({ content }) => content);
  expect(all.filter(Boolean)).toEqual(['```text\nalpha\n```', 'hi', '```text\nhi\nheard hi\n```']);
});
