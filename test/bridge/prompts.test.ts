// A prompt from the thread to the waiting hook, and back: real bridge, real hook, real workspace.

import { describe, expect, it, vi } from 'vitest';
import { parseCustomId } from '../../core/prompt-answer.ts';
import { interactionSchema } from '../../discord/interactions.ts';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import { listenTo, restOf } from '../support/client.ts';
import {
  buttonOf,
  buttonsOf,
  decisionIn,
  messageNow,
  type PromptPane,
  promptIn,
  startHook,
  startPromptPane,
  untilTextCounts,
  verdictOf,
} from '../support/prompt-pane.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { aWhile, type Setting, type SettingOptions, startSetting, WAIT } from './bridge-setup.ts';
import { tap } from './tap-message.ts';

async function start(options: SettingOptions = {}) {
  const setting = await startSetting(options);
  const pane = await startPromptPane(setting.machine);
  return { setting, pane };
}

async function ask(
  { setting, pane }: { setting: Setting; pane: PromptPane },
  name = 'Bash',
  screen = 'dialog-permission-bash',
) {
  await pane.show(screen);
  const hook = startHook(setting.machine, pane, pane.input(name));
  return { hook, message: await promptIn(setting.workspace, pane.thread) };
}

const askTwo = (parts: { setting: Setting; pane: PromptPane }) =>
  ask(parts, 'AskUserQuestion.two-questions', 'dialog-question-first');

const openIn = ({ machine }: Setting) => loadPromptRecords(machine.home).filter(({ ended }) => ended === undefined);

const chosenIn = (setting: Setting) => openIn(setting)[0]?.chosen ?? [];

/** Everything from now on that only the tapping user sees. */
async function listenAsPerson({ workspace }: Setting): Promise<() => readonly string[]> {
  const page = await openPageSocket(workspace);
  return () =>
    page.heard.filter(({ t, d }) => t === 'MESSAGE_CREATE' && (d.flags & 64) !== 0).map(({ d }) => d.content);
}

describe('a tap', () => {
  it('decides, and the message shows who decided', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await tap(parts.setting, message, 'Always allow');
    expect(decisionIn(await hook.printed)).toEqual({
      behavior: 'allow',
      updatedPermissions: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash', ruleContent: 'curl http://127.0.0.1:1/' }],
          behavior: 'allow',
          destination: 'localSettings',
        },
      ],
    });
    expect(await verdictOf(parts.setting.workspace, message)).toBe('✅ **Always allowed** — you');
  });

  it('counts also if it is faster than the answer of the server that has taken the message', async () => {
    let answerNow = () => {};
    const over = new Promise<void>((resolve) => {
      answerNow = resolve;
    });
    const onRequest = ({ method, body }: { method: string; body: unknown }) =>
      method === 'POST' && JSON.stringify(body ?? '').includes('Always allow')
        ? { kind: 'answer-late' as const, over }
        : undefined;
    const parts = await start({ faults: { onRequest } });
    const { hook, message } = await ask(parts);
    await tap(parts.setting, message, 'Allow');
    await aWhile(500);
    answerNow();
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    expect(await verdictOf(parts.setting.workspace, message)).toBe('✅ **Allowed** — you');
  });

  it('opens a text field for a reason', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    const { person } = parts.setting.workspace;
    const tapped = await tap(parts.setting, message, 'Deny with a reason');
    await vi.waitFor(async () => {
      await person.submitModal(message.channel_id, tapped, { words: 'use a temp dir' });
    }, WAIT);
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'deny', message: 'use a temp dir' });
    expect(await verdictOf(parts.setting.workspace, message)).toBe('⛔ **Denied**: use a temp dir — you');
  });

  it('steps through several questions in one message: button, field, menu, again, submit', async () => {
    const parts = await start();
    const { hook, message } = await askTwo(parts);
    const { workspace } = parts.setting;
    const { person } = workspace;
    const untilShown = (about: RegExp) => promptIn(workspace, parts.pane.thread, about);
    await tap(parts.setting, message, '2. Postgres');
    await tap(parts.setting, await untilShown(/\(2 of 2\)/), 'Start again');
    const other = await tap(parts.setting, await untilShown(/\(1 of 2\)/), 'Other');
    await vi.waitFor(() => person.submitModal(message.channel_id, other, { words: 'I want 1 MySQL' }), WAIT);
    const second = await untilShown(/\(2 of 2\)/);
    expect(second.content).toContain('✔ **Database**: I want 1 MySQL');
    const menu = buttonsOf(second).find(({ options }) => options !== undefined);
    const values = menu?.options?.slice(0, 2).map(({ value }) => value) ?? [];
    await person.choose(message.channel_id, message.id, menu?.custom_id ?? '', values);
    await tap(parts.setting, await untilShown(/Your answers/), 'Submit');
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual([
      'I want 1 MySQL',
      'Cache, Queue',
    ]);
    expect(await verdictOf(workspace, message)).toContain('I want 1 MySQL · Cache, Queue');
  });

  it('twice on one question does not answer the next one', async () => {
    const parts = await start();
    const { message } = await askTwo(parts);
    const whispers = await listenAsPerson(parts.setting);
    await Promise.all([1, 2, 3].map(() => tap(parts.setting, message, '1. SQLite')));
    const second = await promptIn(parts.setting.workspace, parts.pane.thread, /\(2 of 2\)/);
    await aWhile();
    expect((await messageNow(parts.setting.workspace, second)).content).toContain('(2 of 2)');
    expect(whispers()).toEqual([]);
  });

  it('on Submit counts only for the answers that its message shows', async () => {
    let isShown = true;
    const onRequest = ({ method, path }: { method: string; path: string }) =>
      !isShown && method === 'PATCH' && path.includes('/messages/')
        ? ({ kind: 'answer', status: 503 } as const)
        : undefined;
    const parts = await start({ faults: { onRequest } });
    const { hook, message } = await askTwo(parts);
    const { workspace } = parts.setting;
    const { person } = workspace;
    const whispers = await listenAsPerson(parts.setting);
    const untilShown = (about: RegExp) => promptIn(workspace, parts.pane.thread, about);
    const write = async (form: string, words: string) => {
      const count = chosenIn(parts.setting).length;
      await vi.waitFor(() => person.submitModal(message.channel_id, form, { words }), WAIT);
      await vi.waitFor(() => expect(chosenIn(parts.setting)).toHaveLength(count + 1), WAIT);
    };
    const forms = [await tap(parts.setting, message, 'Other')];
    await tap(parts.setting, message, '1. SQLite');
    const second = await untilShown(/\(2 of 2\)/);
    forms.push(await tap(parts.setting, second, 'Other'));
    const menu = buttonsOf(second).find(({ options }) => options !== undefined);
    const values = menu?.options?.slice(0, 1).map(({ value }) => value) ?? [];
    await person.choose(message.channel_id, message.id, menu?.custom_id ?? '', values);
    const review = await untilShown(/Your answers/);
    isShown = false;
    await tap(parts.setting, review, 'Start again');
    await vi.waitFor(() => expect(chosenIn(parts.setting)).toEqual([]), WAIT);
    await write(forms[0] ?? '', 'delete the database');
    await write(forms[1] ?? '', 'without a backup');
    expect((await messageNow(workspace, review)).content).toBe(review.content);
    await tap(parts.setting, review, 'Submit');
    await vi.waitFor(() => expect(whispers().at(-1)).toMatch(/have changed .* nothing was submitted/), WAIT);
    expect(hook.hasEnded()).toBe(false);
    isShown = true;
    await tap(parts.setting, await untilShown(/without a backup/), 'Submit');
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual([
      'delete the database',
      'without a backup',
    ]);
  });

  it('at the same time as another one makes one decision, and the other user is told', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await Promise.all([tap(parts.setting, message, 'Allow'), tap(parts.setting, message, 'Deny').catch(() => '')]);
    const { behavior } = decisionIn(await hook.printed);
    const verdict = await verdictOf(parts.setting.workspace, message);
    expect(verdict).toContain(behavior === 'allow' ? 'Allowed' : 'Denied');
  });

  it('on a prompt whose hook was killed tells the user, and has a button for the screen', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    const whispers = await listenAsPerson(parts.setting);
    await aWhile(1_100); // its buttons can be tapped
    hook.child.kill('SIGKILL');
    await hook.ended;
    await parts.setting.workspace.person.tap(parts.pane.thread, message.id, buttonOf(message, 'Allow'), {
      sudden: true,
    });
    await vi.waitFor(() => expect(whispers()).toHaveLength(1), WAIT);
    expect(whispers()[0]).toMatch(/did not reach the agent\. Answer in the terminal|is over/);
    expect(parts.setting.log.filter((line) => line.includes('answer for nobody'))).toHaveLength(1);
    expect(await hook.printed).toBe('');
    const now = await vi.waitFor(async () => {
      const one = await messageNow(parts.setting.workspace, message);
      expect(one.content).toMatch(/⚠️ .*Answer in the terminal\.$/);
      return one;
    }, WAIT);
    expect(buttonsOf(now).map(({ label }) => label)).toEqual(['Screen']);
  });

  it('on a prompt that is over changes nothing and says so, also in a later session of the same name', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const { hook, message } = await ask(parts);
    await tap(setting, message, 'Deny');
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    const verdict = await verdictOf(setting.workspace, message);
    await pane.show('busy-status-line');
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const next = await startPromptPane(setting.machine);
    const later = await ask({ setting, pane: next });
    const whispers = await listenAsPerson(setting);
    // A client may still show the buttons.
    const customId = buttonOf(message, 'Allow');
    const components = [{ type: 1, components: [{ type: 2, style: 3, label: 'Allow', custom_id: customId }] }];
    for (const thread of new Set([pane.thread, next.thread])) {
      const path = `/channels/${thread}/messages`;
      const { body } = await setting.workspace.bot('POST', path, { content: 'old', components });
      await setting.workspace.person.tap(thread, body.id, customId);
      await vi.waitFor(
        () => expect(whispers().at(-1)).toBe('This prompt is already closed. Nothing was changed.'),
        WAIT,
      );
    }
    await aWhile();
    expect(later.hook.hasEnded()).toBe(false);
    expect((await messageNow(setting.workspace, later.message)).components).not.toEqual([]);
    expect((await messageNow(setting.workspace, message)).content).toContain(verdict);
  });

  it('by a user who is not on the list decides nothing, and is one line in the log', async () => {
    const parts = await start({ allow: ['123456789012345678'] });
    const { hook, message } = await ask(parts);
    await tap(parts.setting, message, 'Allow');
    const ignored = () => parts.setting.log.filter((line) => line.includes('not listed'));
    await vi.waitFor(() => expect(ignored()).toHaveLength(1), WAIT);
    await aWhile();
    expect(hook.hasEnded()).toBe(false);
    expect(openIn(parts.setting)).toHaveLength(1);
    expect((await messageNow(parts.setting.workspace, message)).components).not.toEqual([]);
  });

  it('that is replayed, or names a prompt that never existed, decides nothing', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const { workspace } = setting;
    const { named } = listenTo(workspace, restOf(workspace));
    const { hook, message } = await ask(parts);
    await tap(setting, message, 'Deny');
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    const told = await vi.waitFor(() => {
      const all = named('INTERACTION_CREATE');
      expect(all).toHaveLength(1);
      return interactionSchema.parse(all[0]?.data);
    }, WAIT);
    await verdictOf(workspace, message);
    const next = await ask(parts); // a new request of the same kind, which must not get the old answer
    const replayed = {
      prompt: parseCustomId(buttonOf(message, 'Deny'))?.prompt ?? '',
      on: { thread: pane.thread, message: message.id },
      answer: { action: 'allow', values: [], text: '' },
      by: { id: '1', name: 'someone' },
      order: told.id,
    };
    const { prompts } = setting.shared;
    expect(await prompts.answer(replayed)).toBe('taken'); // it was already accepted once
    expect(await prompts.answer({ ...replayed, order: '1' })).toBe('over');
    expect(await prompts.answer({ ...replayed, prompt: 'A'.repeat(32) })).toBe('over');
    await aWhile();
    expect(next.hook.hasEnded()).toBe(false);
    expect((await messageNow(workspace, next.message)).components).not.toEqual([]);
  });
});

describe('while a prompt is open,', () => {
  it.each([
    ['allow', { behavior: 'allow' }],
    ['Not like this', { behavior: 'deny', message: 'Not like this' }],
  ])('the text "%s" is its answer, also for a bridge that was started after it', async (text, expected) => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.setting.restart();
    // On a busy machine, the dialog gets a card before the hook reports. A text right after its end may have been meant for it.
    const { shared, say } = parts.setting;
    await vi.waitFor(() => expect(shared.threads.registry.get(parts.pane.thread)?.dialog).toBeUndefined(), WAIT);
    const said = await vi.waitFor(
      async () => {
        const written = await say(parts.pane.thread, text);
        await vi.waitFor(async () => expect(await parts.setting.marks(written)).not.toEqual([]), WAIT);
        expect(await parts.setting.marks(written)).not.toContain('⚠️');
        return written;
      },
      { interval: 3_500 },
    );
    expect(decisionIn(await hook.printed)).toEqual(expected);
    await parts.setting.untilMarked(said, '✅');
    await verdictOf(parts.setting.workspace, message);
  });

  it('a text that cannot answer it waits, is not lost, and the thread says so', async () => {
    const parts = await start();
    const { hook, message } = await askTwo(parts);
    const { setting, pane } = parts;
    await untilTextCounts(message);
    await setting.untilMarked(await setting.say(pane.thread, '2'), '✅');
    await promptIn(setting.workspace, pane.thread, /\(2 of 2\)/);
    await setting.untilMarked(await setting.say(pane.thread, '1, 3'), '✅');
    await promptIn(setting.workspace, pane.thread, /Your answers/);
    const waits = await setting.say(pane.thread, 'and run the tests');
    await setting.untilMarked(waits, '📨');
    await setting.untilMarked(await setting.say(pane.thread, 'submit'), '✅');
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual(['Postgres', 'Cache, Search']);
    expect(await verdictOf(setting.workspace, message)).toContain('Postgres · Cache, Search');
    expect(await setting.marks(waits)).toEqual(['📨']);
  });

  it('a tap still works after a restart of the bridge', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.setting.restart();
    await tap(parts.setting, message, 'Allow');
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
  });
});

describe('many prompts', () => {
  it('in 4 sessions at once each get their own answer', async () => {
    const setting = await startSetting();
    const { workspace, machine } = setting;
    const panes: PromptPane[] = [];
    for (let at = 0; at < 4; at++) panes.push(await startPromptPane(machine, `s${at}`));
    await Promise.all(panes.map((pane) => pane.show('dialog-permission-long')));
    const asked = panes.flatMap((pane) =>
      Array.from({ length: 3 }, (_, at) => {
        const command = `echo ${pane.session} number ${at}`;
        const input = pane.input('Bash', { tool_input: { command } });
        return { pane, command, hook: startHook(machine, pane, input) };
      }),
    );
    await vi.waitFor(() => expect(openIn(setting)).toHaveLength(12), WAIT);
    const shuffled = asked.toSorted(() => Math.random() - 0.5);
    for (const [at, { pane, command }] of shuffled.entries()) {
      const message = await promptIn(workspace, pane.thread, new RegExp(`${command}\n`));
      const tapped = await tap(setting, message, at % 2 === 0 ? 'Allow' : 'reason');
      if (at % 2 === 0) continue;
      const words = { words: `not ${command}` };
      await vi.waitFor(() => workspace.person.submitModal(pane.thread, tapped, words), WAIT);
    }
    for (const [at, { hook, command }] of shuffled.entries()) {
      expect(decisionIn(await hook.printed)).toEqual(
        at % 2 === 0 ? { behavior: 'allow' } : { behavior: 'deny', message: `not ${command}` },
      );
    }
    expect(openIn(setting)).toEqual([]);
  }, 120_000);
});

const hasFiles = (body: unknown) =>
  ((body as { attachments?: readonly unknown[] } | undefined)?.attachments?.length ?? 0) > 0;

describe('a prompt that is too large for the server', () => {
  it.each([
    ['a command', 'Bash', { command: `echo ${'a'.repeat(5_000)}` }, 413, 'by a code of Discord'],
    ['a plan', 'ExitPlanMode', { plan: 'a\n'.repeat(5_000) }, 413, 'by a proxy'],
  ])('(%s) can be denied here and allowed only in the terminal', async (_, name, input, status, by) => {
    const body = by === 'by a proxy' ? 'too large' : { code: 40005, message: 'too large' };
    const parts = await start({
      faults: {
        onRequest: (request) =>
          request.method === 'POST' && request.path.endsWith('/messages') && hasFiles(request.body)
            ? { kind: 'answer', status, body }
            : undefined,
      },
    });
    const { setting, pane } = parts;
    await pane.show('dialog-permission-bash');
    const hook = startHook(setting.machine, pane, pane.input(name, { tool_input: input }));
    const message = await promptIn(setting.workspace, pane.thread);
    expect(message.content).toMatch(/too large to be shown here.*in the terminal/s);
    expect(buttonsOf(message).map(({ label }) => label)).toEqual(['Deny', 'Deny with a reason…']);
    await setting.restart();
    for (const text of ['yes', 'approve']) await setting.untilMarked(await setting.say(pane.thread, text), '⚠️');
    const deny = buttonOf(message, 'Deny');
    expect(hook.hasEnded()).toBe(false);
    await setting.workspace.person.tap(pane.thread, message.id, deny);
    expect(decisionIn(await hook.printed)).toMatchObject({ behavior: 'deny' });
    expect(await verdictOf(setting.workspace, message)).toContain('**Denied**');
  });
});
