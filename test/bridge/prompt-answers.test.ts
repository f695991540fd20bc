// Which prompt a text, a tap or a field decides: only the one the user saw, on its own message in its own thread.

import { describe, expect, it, vi } from 'vitest';
import { firstAnswer } from '../../bin/acts/own-thread.ts';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import type { Fault, Faults } from '../support/as-discord.mjs';
import {
  buttonOf,
  decisionIn,
  messageNow,
  type PromptPane,
  promptIn,
  startHook,
  startPromptPane,
  untilTextCounts,
  verdictOf,
} from '../support/prompt-pane.ts';
import { aWhile, type Setting, startSetting, WAIT } from './bridge-setup.ts';
import { become } from './tap-message.ts';

const UNCLEAR = /^⚠️ Not used as an answer.*Tap a button/s;

async function start(faults: Faults = {}) {
  const setting = await startSetting({ faults });
  const pane = await startPromptPane(setting.machine);
  return { setting, pane };
}

/** A prompt in the thread; its command makes it different from others. It was there long enough for a word. */
async function ask(parts: Parameters<typeof askNow>[0], command: string) {
  const asked = await askNow(parts, command);
  await untilTextCounts(asked.message);
  return asked;
}

async function askNow({ setting, pane }: { setting: Setting; pane: PromptPane }, command: string) {
  await pane.show('dialog-permission-long');
  const hook = startHook(
    setting.machine,
    pane,
    pane.input('Bash', { tool_input: { command }, permission_suggestions: [] }),
  );
  return { hook, message: await promptIn(setting.workspace, pane.thread, new RegExp(command)) };
}

async function expectOpen({ workspace }: Setting, { hook, message }: Awaited<ReturnType<typeof ask>>) {
  await aWhile();
  expect(hook.hasEnded()).toBe(false);
  expect((await messageNow(workspace, message)).components).not.toEqual([]);
}

it('a prompt whose message was deleted is posted again when somebody writes "yes", and only then it can be allowed', async () => {
  const parts = await start();
  const { setting, pane } = parts;
  const { hook, message } = await ask(parts, 'rm -rf build');
  await setting.workspace.bot('DELETE', `/channels/${pane.thread}/messages/${message.id}`);
  await setting.say(pane.thread, 'yes');
  await setting.answer(pane.thread, UNCLEAR);
  expect(hook.hasEnded()).toBe(false);
  const again = await promptIn(setting.workspace, pane.thread, /rm -rf build/);
  await untilTextCounts(again);
  await setting.say(pane.thread, 'yes');
  expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
  expect(await verdictOf(setting.workspace, again)).toContain('Allowed');
});

describe('a text that was not received live', () => {
  it.each(['yes', 'No', '1'])('"%s" written while threadmux was down decides nothing', async (text) => {
    const parts = await start();
    const { setting, pane } = parts;
    await setting.bridge.close();
    await setting.say(pane.thread, text);
    const prompt = await ask(parts, 'rm -rf build');
    await setting.restart();
    await setting.answer(pane.thread, UNCLEAR);
    await expectOpen(setting, prompt);
  });

  it('decides nothing, even if it is newer than the prompt', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const prompt = await ask(parts, 'rm -rf build');
    await setting.bridge.close();
    const said = await setting.say(pane.thread, 'yes');
    await setting.restart();
    await setting.answer(pane.thread, UNCLEAR);
    await setting.untilMarked(said, '⚠️');
    await expectOpen(setting, prompt);
  });

  it.each([
    ['for unclear', 'unclear' as const],
    ['for a message, before the prompt came', undefined],
  ])('"yes" that an earlier process left in the inbox, taken %s, decides nothing', async (_, answers) => {
    const parts = await start();
    const { setting, pane } = parts;
    const prompt = await ask(parts, 'rm -rf build');
    await setting.bridge.close();
    const { home } = setting.machine;
    const said = await setting.say(pane.thread, 'yes');
    const cursors = openCursors(`${home.folder('state')}/local.cursors.json`);
    openInbox(home.folder('inbox'), cursors, 'local').take({
      id: said.id,
      channelId: pane.thread,
      authorId: setting.workspace.userId,
      author: 'you',
      text: 'yes',
      attachments: [],
      liveAt: performance.now(),
      ...(answers === undefined ? {} : { answers }),
    });
    await setting.restart();
    if (answers === 'unclear') await setting.answer(pane.thread, UNCLEAR);
    await setting.untilMarked(said, answers === 'unclear' ? '⚠️' : '📨');
    await expectOpen(setting, prompt);
  });

  it('waits like any message if it is no answer', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    await setting.bridge.close();
    const said = await setting.say(pane.thread, 'also run the tests');
    const prompt = await ask(parts, 'rm -rf build');
    await setting.restart();
    await setting.untilMarked(said, '📨');
    await expectOpen(setting, prompt);
  });
});

it('a "yes" right after a prompt has appeared was written before it could be read, but a reply counts', async () => {
  const parts = await start();
  const { setting, pane } = parts;
  const prompt = await askNow(parts, 'rm -rf build');
  await setting.say(pane.thread, 'yes');
  await setting.answer(pane.thread, UNCLEAR);
  await expectOpen(setting, prompt);
  await setting.workspace.person.say(pane.thread, 'yes', { replyTo: prompt.message.id });
  expect(decisionIn(await prompt.hook.printed)).toEqual({ behavior: 'allow' });
});

describe('two prompts in one thread', () => {
  it('ignore "yes", and a reply decides the one it replies to', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const first = await ask(parts, 'make');
    const second = await ask(parts, 'rm -rf build');
    await setting.say(pane.thread, 'yes');
    await setting.answer(pane.thread, UNCLEAR);
    await expectOpen(setting, first);
    await expectOpen(setting, second);
    await setting.workspace.person.say(pane.thread, 'yes', { replyTo: first.message.id });
    expect(decisionIn(await first.hook.printed)).toEqual({ behavior: 'allow' });
    await expectOpen(setting, second);
  });

  it('ignore a "yes" that comes just after the first one ended: it may be meant for that one', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const first = await ask(parts, 'make');
    const second = await ask(parts, 'rm -rf build');
    await setting.workspace.person.tap(pane.thread, first.message.id, buttonOf(first.message, 'Deny'));
    await first.hook.printed;
    await vi.waitFor(() => expect(setting.shared.prompts.inThread(pane.thread)).toHaveLength(1), WAIT);
    await setting.say(pane.thread, 'yes');
    await setting.answer(pane.thread, UNCLEAR);
    await expectOpen(setting, second);
    await setting.workspace.person.say(pane.thread, 'yes', { replyTo: second.message.id });
    expect(decisionIn(await second.hook.printed)).toEqual({ behavior: 'allow' });
  });

  it('ignore a reply to one that is over', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const { person } = setting.workspace;
    const first = await ask(parts, 'make');
    await person.tap(pane.thread, first.message.id, buttonOf(first.message, 'Deny'));
    await verdictOf(setting.workspace, first.message);
    const second = await ask(parts, 'rm -rf build');
    await person.say(pane.thread, 'yes', { replyTo: first.message.id });
    await setting.answer(pane.thread, UNCLEAR);
    await expectOpen(setting, second);
    await vi.waitFor(
      () => expect(setting.shared.prompts.hasJustEnded(pane.thread, performance.now())).toBe(false),
      WAIT,
    );
    await untilTextCounts(second.message);
    await setting.say(pane.thread, 'yes');
    expect(decisionIn(await second.hook.printed)).toEqual({ behavior: 'allow' });
  });
});

describe('a prompt with several questions', () => {
  async function askTwo(faults: Faults = {}) {
    const parts = await start(faults);
    const { setting, pane } = parts;
    await pane.show('dialog-question-first');
    const hook = startHook(setting.machine, pane, pane.input('AskUserQuestion.two-questions'));
    const message = await promptIn(setting.workspace, pane.thread, /\(1 of 2\)/);
    await untilTextCounts(message);
    const [prompt] = setting.shared.prompts.inThread(pane.thread);
    /** Another person taps. */
    const other = (action: string, ...values: string[]) =>
      setting.shared.prompts.answer({
        prompt: prompt?.id ?? '',
        on: { thread: pane.thread, message: message.id },
        answer: { action, values, text: '' },
        by: { id: '999', name: 'other' },
        order: `${action} ${values}`,
      });
    return { ...parts, hook, message, other };
  }

  it('does not take a text for the next one that was written for the one before', async () => {
    const { setting, pane, hook, message, other } = await askTwo();
    expect(await other('pick', '1.1')).toBe('taken');
    const replyTo = message.id;
    for (const said of [
      await setting.say(pane.thread, '2'),
      await setting.workspace.person.say(pane.thread, 'the one that is faster', { replyTo }),
    ])
      await setting.untilMarked(said, '⚠️');
    await expectOpen(setting, { hook, message });
    expect((await messageNow(setting.workspace, message)).content).toContain('(2 of 2)');
  });

  it('is not submitted by a "yes" for the last question', async () => {
    const { setting, pane, hook, message, other } = await askTwo();
    await other('pick', '1.1');
    await other('choose', '2.1');
    await setting.say(pane.thread, 'yes');
    await setting.answer(pane.thread, UNCLEAR);
    await expectOpen(setting, { hook, message });
  });

  it.each([
    ['another person', false],
    ['the person who writes', true],
  ])(
    'still shows the one before, answered by %s, as long as Discord has not changed the message',
    async (_, isSame) => {
      let isSlow = false;
      const busy = { kind: 'answer', status: 503, body: {} } as const;
      const { setting, pane, hook, message, other } = await askTwo({
        onRequest: ({ method, path }) =>
          isSlow && method === 'PATCH' && path.includes('/messages/') ? busy : undefined,
      });
      isSlow = true;
      if (isSame) await setting.workspace.person.tap(pane.thread, message.id, buttonOf(message, '1. SQLite'));
      else await other('pick', '1.1');
      await aWhile(3_200);
      await setting.untilMarked(await setting.say(pane.thread, '2'), '⚠️');
      isSlow = false;
      await become(setting, message, /\(2 of 2\)/);
      await expectOpen(setting, { hook, message });
    },
  );

  it.each([
    ['the bot may not', 403, 50013],
    ['it is not valid', 400, 50035],
    ['somebody has deleted the message', 404, 10008],
  ])('does not take a text for a question that Discord refused to show, because %s', async (_, status, code) => {
    let isRefused = false;
    const refusal = { kind: 'answer', status, body: { code, message: 'no' } } as const;
    const { setting, pane, hook, message } = await askTwo({
      onRequest: ({ method, path }) =>
        isRefused && method === 'PATCH' && path.includes('/messages/') ? refusal : undefined,
    });
    isRefused = true;
    await setting.workspace.person.tap(pane.thread, message.id, buttonOf(message, '1. SQLite'));
    await aWhile(3_500);
    await setting.untilMarked(await setting.say(pane.thread, '2'), '⚠️');
    await setting.stop();
    await setting.restart();
    await aWhile(3_500);
    await setting.untilMarked(await setting.say(pane.thread, '2'), '⚠️');
    expect(setting.shared.prompts.inThread(pane.thread)).toMatchObject([{ question: 2 }]);
    expect(hook.hasEnded()).toBe(false);
  });

  it('shows the next one after a restart, if threadmux was stopped before Discord had changed the message', async () => {
    let isSlow = false;
    const busy = { kind: 'answer', status: 503, body: {} } as const;
    const { setting, pane, hook, message, other } = await askTwo({
      onRequest: ({ method, path }) => (isSlow && method === 'PATCH' && path.includes('/messages/') ? busy : undefined),
    });
    isSlow = true;
    await other('pick', '1.1');
    await setting.stop();
    await setting.restart();
    await aWhile(3_200);
    expect((await messageNow(setting.workspace, message)).content).toContain('(1 of 2)');
    await setting.untilMarked(await setting.say(pane.thread, '2'), '⚠️');
    isSlow = false;
    await become(setting, message, /\(2 of 2\)/);
    await expectOpen(setting, { hook, message });
  });
});

describe('a question on the screen', () => {
  /** With its card: no hook has reported it. */
  async function question() {
    const setting = await startSetting();
    const { machine } = setting;
    const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
    await pane.show('dialog-question');
    const card = await setting.answer(pane.thread, /Which database/);
    return { setting, pane, card };
  }

  it('does not leave its "yes" to a prompt that comes meanwhile', async () => {
    const { setting, pane } = await question();
    const command = 'rm -rf build';
    const input = pane.input('Bash', { tool_input: { command }, permission_suggestions: [] });
    const hook = startHook(setting.machine, pane, input);
    const message = await promptIn(setting.workspace, pane.thread, new RegExp(command));
    await setting.say(pane.thread, 'yes');
    await setting.answer(pane.thread, UNCLEAR);
    await expectOpen(setting, { hook, message });
  });

  it('and a question of a program do not share a text', async () => {
    const { setting, pane } = await question();
    const { shared, machine } = setting;
    const asking = firstAnswer(
      { ...pane.record(), path: machine.tmux.dir } as never,
      { question: 'Deploy?', options: ['yes', 'no'], seconds: 60 },
      machine.home,
    );
    const asked = await setting.answer(pane.thread, /Deploy\?/);
    expect(shared.threads.registry.get(pane.thread)?.dialog).toBeDefined();
    await setting.say(pane.thread, '1');
    await setting.answer(pane.thread, UNCLEAR);
    await setting.workspace.person.say(pane.thread, '2', { replyTo: asked.id });
    expect((await asking).answer).toBe('no');
  });

  it('that changes after its card was deleted gets a card of its own', async () => {
    const { setting, pane, card } = await question();
    await setting.workspace.bot('DELETE', `/channels/${pane.thread}/messages/${card.id}`);
    await pane.show('dialog-question-first');
    const next = await setting.answer(pane.thread, /A server/);
    expect(next.id).not.toBe(card.id);
    expect(setting.shared.threads.registry.get(pane.thread)?.dialog?.message).toBe(next.id);
  });

  it('whose options have just changed is not answered by a text that may be meant for the earlier ones', async () => {
    const { setting, pane, card } = await question();
    await pane.show('dialog-question-first');
    await become(setting, card, /A server/);
    const { person } = setting.workspace;
    await setting.say(pane.thread, '1');
    await person.say(pane.thread, '1', { replyTo: card.id });
    await vi.waitFor(async () => {
      const said = (await person.messages(pane.thread)).filter(({ content }) => UNCLEAR.test(content));
      expect(said).toHaveLength(2);
    }, WAIT);
  });
});

describe('a prompt on the screen that is not posted yet', () => {
  it.each<[string, Fault]>([
    ['because the answer to its posting is late', { kind: 'apply-then-silence' }],
    ['because the answer was lost and it is posted again later', { kind: 'apply-then-answer', status: 200, body: {} }],
  ])('is not allowed by a "yes" for another one: %s', async (_, fault) => {
    const parts = await start({
      onRequest: ({ method, body }) =>
        method === 'POST' && JSON.stringify(body ?? '').includes('rm -rf build') ? fault : undefined,
    });
    const { setting, pane } = parts;
    const first = await ask(parts, 'make');
    const second = await ask(parts, 'rm -rf build');
    await aWhile();
    await setting.untilMarked(await setting.say(pane.thread, 'yes'), '⚠️');
    await expectOpen(setting, first);
    await expectOpen(setting, second);
  });
});

describe('a prompt that was answered', () => {
  it('but that Discord refuses to show as over leaves no "yes" to another one, and a reply still counts', async () => {
    let isRefused = false;
    const refusal = { kind: 'answer', status: 403, body: { code: 50013, message: 'no' } } as const;
    const parts = await start({
      onRequest: ({ method, path }) =>
        isRefused && method === 'PATCH' && path.includes('/messages/') ? refusal : undefined,
    });
    const { setting, pane } = parts;
    const first = await ask(parts, 'make');
    isRefused = true;
    await setting.workspace.person.tap(pane.thread, first.message.id, buttonOf(first.message, 'Deny'));
    await first.hook.printed;
    const second = await ask(parts, 'rm -rf build');
    await aWhile(3_500);
    await setting.untilMarked(await setting.say(pane.thread, 'yes'), '⚠️');
    await expectOpen(setting, second);
    await setting.workspace.person.say(pane.thread, 'yes', { replyTo: second.message.id });
    expect(decisionIn(await second.hook.printed)).toEqual({ behavior: 'allow' });
  });

  it('has no keys for the dialog of another command that begins like its own', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const prompt = await ask(parts, 'sleep 0 && cat /home/me/other'); // the screen shows another file
    await setting.workspace.person.tap(pane.thread, prompt.message.id, buttonOf(prompt.message, 'Allow'));
    await prompt.hook.printed;
    pane.result();
    await become(setting, prompt.message, /did not reach the agent/);
    const { components } = await messageNow(setting.workspace, prompt.message);
    expect(JSON.stringify(components).match(/key:\w+/g)).toEqual(['key:look']);
  });
});

describe('a button with the id of a prompt on another message', () => {
  async function forge(setting: Setting, thread: string, customId: string) {
    const components = [{ type: 1, components: [{ type: 2, style: 3, label: 'Continue', custom_id: customId }] }];
    const path = `/channels/${thread}/messages`;
    return (await setting.workspace.bot('POST', path, { content: 'Go on?', components })).body;
  }

  it.each(['its own thread', 'the thread of another session'])('in %s decides nothing', async (where) => {
    const parts = await start();
    const { setting, pane } = parts;
    const { person } = setting.workspace;
    const other = await startPromptPane(setting.machine, 'other');
    const prompt = await ask(parts, 'rm -rf build');
    const thread = where === 'its own thread' ? pane.thread : other.thread;
    const allow = buttonOf(prompt.message, 'Allow');
    const forged = await forge(setting, thread, allow);
    await person.tap(thread, forged.id, allow);
    const field = buttonOf(prompt.message, 'reason');
    const withField = await forge(setting, thread, field);
    const tapped = await person.tap(thread, withField.id, field);
    await vi.waitFor(() => person.submitModal(thread, tapped, { words: 'no' }), WAIT);
    await expectOpen(setting, prompt);
    await person.tap(pane.thread, prompt.message.id, allow);
    expect(decisionIn(await prompt.hook.printed)).toEqual({ behavior: 'allow' });
  });
});
