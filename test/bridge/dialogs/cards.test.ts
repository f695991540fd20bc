// A dialog of the agent is a card in its thread: a tap chooses exactly that option, and the card is closed with the dialog.

import { describe, expect, it, vi } from 'vitest';
import { snowflakeTime } from '../../../core/snowflake.ts';
import type { FakeClaude } from '../../support/fake-claude.ts';
import { buttonOf, promptIn, startHook, startPromptPane } from '../../support/prompt-pane.ts';
import {
  aWhile,
  type Setting,
  type SettingOptions,
  screenOf,
  shareSetting,
  startSetting,
  untilPrompts,
  WAIT,
} from '../bridge-setup.ts';
import { become, openWhispers, tap } from '../tap-message.ts';

const TRUST = {
  title: 'Accessing workspace:',
  text: ['/home/me/project', '', 'Is this a project you created or one you trust?'],
  options: ['No, exit', 'Yes, I trust this folder'],
  at: 0,
};
const THEME = {
  title: 'Theme',
  options: [
    'Auto',
    'Dark mode',
    'Light mode',
    'Dark (colorblind)',
    'Light (colorblind)',
    'Dark (ANSI)',
    'Light (ANSI)',
  ],
  at: 1,
  numbered: true,
};

const share = shareSetting();
const begin = () => share({ replies: false });

async function beginWith(options: SettingOptions) {
  const setting = await startSetting(options);
  return { setting, claude: await setting.claude('web', { replies: false }) };
}

const cardsIn = async (setting: Setting, claude: FakeClaude) =>
  (await setting.answers(claude)).filter(({ components }) => JSON.stringify(components ?? []).includes('dialog:'));

const chosen = (claude: FakeClaude) => claude.noted().flatMap(({ kind, text }) => (kind === 'chosen' ? [text] : []));

describe('a dialog', () => {
  it('gets its card also if somebody locks the thread again before it is posted', async () => {
    let times = 3;
    const refused = { kind: 'answer', status: 400, body: { code: 160005, message: 'locked' } } as const;
    const { setting, claude } = await beginWith({
      faults: {
        onRequest: ({ method, body }) =>
          method === 'POST' && JSON.stringify(body ?? '').includes('dialog:') && times-- > 0 ? refused : undefined,
      },
    });
    await claude.tell('choice', TRUST);
    await setting.answer(claude, /Accessing workspace/);
    expect(times).toBeLessThan(0);
    expect(await cardsIn(setting, claude)).toHaveLength(1);
  });

  it('is a card with its words, and a tap chooses exactly the tapped option', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    expect(card.content).toContain('/home/me/project');
    expect(card.flags ?? 0).not.toBe(4096); // it notifies
    await tap(setting, card, 'Yes, I trust');
    const closed = await become(setting, card, /^✅ \*\*Accessing workspace:\*\* Yes, I trust this folder — /);
    expect(closed.components).toEqual([]);
    expect(chosen(claude)).toEqual(['Yes, I trust this folder']);
  });

  it('that is too long for a message is attached as a whole', async () => {
    const { setting, claude } = await share({ replies: false, size: [200, 50] });
    const text = Array.from({ length: 20 }, (_, at) => `step ${at} ${'and so on '.repeat(15)}`);
    await claude.tell('choice', { ...TRUST, text: [...text, 'rm -rf /'] });
    const card = await setting.answer(claude, /Accessing workspace/);
    expect(card.content).not.toContain('rm -rf /');
    expect(card.content).toContain('dialog.txt has all of it');
    const [file] = card.attachments;
    expect(file?.filename).toBe('dialog.txt');
    expect(await (await fetch(file?.url ?? '')).text()).toContain('rm -rf /');
  });

  it('with more than five options is a menu', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', THEME);
    const card = await setting.answer(claude, /Theme/);
    const menu = (card.components as { components: { custom_id: string; options: { label: string }[] }[] }[])[0]
      ?.components[0];
    expect(menu?.options.map(({ label }) => label)).toEqual(THEME.options);
    await setting.workspace.person.choose(card.channel_id, card.id, menu?.custom_id ?? '', ['5']);
    await become(setting, card, /^✅ .*Dark \(ANSI\)/);
    expect(chosen(claude)).toEqual(['Dark (ANSI)']);
  });

  it('that follows another one is a new card, and the old one is closed', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { ...TRUST, next: [{ ...TRUST, title: 'Make auto mode your default?' }] });
    const first = await setting.answer(claude, /Accessing workspace/);
    await tap(setting, first, 'Yes, I trust');
    const second = await setting.answer(claude, /^🔔 \*\*Make auto mode/);
    await become(setting, first, /^✅/);
    await tap(setting, second, 'No, exit');
    await become(setting, second, /^✅ .*No, exit/);
    expect(chosen(claude)).toEqual(['Yes, I trust this folder', 'No, exit']);
  });

  it('that marks the taken option before it closes is still the same one', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { ...TRUST, linger: 2_500 });
    const card = await setting.answer(claude, /Accessing workspace/);
    await tap(setting, card, 'Yes, I trust');
    await become(setting, card, /^✅ .*Yes, I trust this folder — /);
    expect((await setting.answers(claude)).filter(({ content }) => /Accessing/.test(content))).toHaveLength(1);
  });

  it('is closed in the thread when it is answered in the terminal', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Enter');
    const closed = await become(setting, card, /Closed in the terminal/);
    expect(closed.components).toEqual([]);
  });

  it('is answered with its key where it says so', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    await tap(setting, card, 'Esc: cancel');
    await become(setting, card, /^✅ .* Esc — /);
    expect(chosen(claude)).toEqual(['Esc']);
  });

  it('that threadmux cannot answer has keys, and its text follows the screen', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { title: 'Pick some', options: ['[ ] Cache', '[ ] Queue'], at: 0 });
    const card = await setting.answer(claude, /Pick some/);
    expect(card.content).toContain('❯ [ ] Cache');
    await tap(setting, card, '↓');
    const moved = await become(setting, card, /❯ \[ \] Queue/);
    await tap(setting, moved, 'Enter');
    await become(setting, card, /^✅ /);
    expect(chosen(claude)).toEqual(['[ ] Queue']);
  });
});

describe('a tap', () => {
  it('chooses once when it is made twice, and leaves the next dialog open', async () => {
    const { setting, claude } = await begin();
    const whispers = await openWhispers(setting);
    await claude.tell('choice', { ...TRUST, next: [{ ...TRUST, title: 'Delete everything?' }] });
    const card = await setting.answer(claude, /Accessing workspace/);
    await claude.tell('slow', 400);
    await Promise.all([tap(setting, card, 'No, exit'), tap(setting, card, 'No, exit')]);
    await setting.answer(claude, /Delete everything/);
    await vi.waitFor(() => expect(whispers()).toEqual(['This dialog is already closed. Nothing was pressed.']), WAIT);
    expect(chosen(claude)).toEqual(['No, exit']);
  });

  it('presses nothing if the terminal has opened another dialog', async () => {
    const { setting, claude } = await begin();
    const whispers = await openWhispers(setting);
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    await aWhile(1_100); // its buttons can be tapped
    await Promise.all([
      claude.tell('choice', { ...TRUST, text: ['/home/me/other'] }),
      setting.workspace.person.tap(card.channel_id, card.id, buttonOf(card, 'Yes, I trust'), { sudden: true }),
    ]);
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/Nothing was pressed/)]), WAIT);
    await become(setting, card, /home\/me\/other/);
    expect(chosen(claude)).toEqual([]);
  });

  it('works while somebody at the terminal moves the highlighted option', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', THEME);
    const card = await setting.answer(claude, /Theme/);
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Up', 'Up');
    const [menu] = (card.components as { components: { custom_id: string }[] }[])[0]?.components ?? [];
    await setting.workspace.person.choose(card.channel_id, card.id, menu?.custom_id ?? '', ['2']);
    await become(setting, card, /^✅ .*Light mode/);
    expect(chosen(claude)).toEqual(['Light mode']);
  });

  it('chooses no other option if the program is slow to move in the list, also when it is tapped again', async () => {
    const { setting, claude } = await begin();
    const whispers = await openWhispers(setting);
    await claude.tell('choice', { ...TRUST, options: ['Yes, always', 'Yes', 'Never'] });
    const card = await setting.answer(claude, /Accessing workspace/);
    await claude.tell('slow', 7_000);
    await tap(setting, card, 'Never');
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/^⚠️ Nothing was chosen/)]), WAIT);
    await tap(setting, card, 'Yes, always'); // highlighted, until the program has taken the arrow
    await vi.waitFor(() => expect(whispers()[1]).toMatch(/^⚠️ Nothing was pressed: the program may still/), WAIT);
    await vi.waitFor(() => expect(screenOf(setting.machine, claude.session)).toMatch(/❯ Yes$/m), WAIT);
    await claude.tell('slow', 0);
    expect(chosen(claude)).toEqual([]);
    await tap(setting, card, 'Never');
    await become(setting, card, /^✅ /);
    expect(chosen(claude)).toEqual(['Never']);
  });

  it('on an old card presses nothing', async () => {
    const { setting, claude } = await begin();
    const whispers = await openWhispers(setting);
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    await claude.tell('choice');
    await become(setting, card, /Closed in the terminal/);
    await claude.tell('choice', TRUST);
    await vi.waitFor(async () => expect(await cardsIn(setting, claude)).toHaveLength(1), WAIT);
    // The server would refuse a tap on a button that is gone: this one is on its way when the card is closed.
    const { components } = card;
    await setting.workspace.bot('PATCH', `/channels/${card.channel_id}/messages/${card.id}`, { components });
    await tap(setting, card, 'Yes, I trust');
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/Nothing was pressed/)]), WAIT);
    expect(chosen(claude)).toEqual([]);
  });

  it('of somebody who is not listed presses nothing', async () => {
    const { setting, claude } = await beginWith({ allow: ['1'.repeat(18)] });
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    await tap(setting, card, 'Yes, I trust');
    await aWhile();
    expect(chosen(claude)).toEqual([]);
  });

  it('works after a restart, and there is still one card', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    await setting.restart();
    await aWhile(1_500);
    expect(await cardsIn(setting, claude)).toHaveLength(1);
    await tap(setting, card, 'Yes, I trust');
    await become(setting, card, /^✅/);
    expect(chosen(claude)).toEqual(['Yes, I trust this folder']);
  });
});

describe('a card', () => {
  it('is posted once, even if threadmux was killed before it knew its message', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    await setting.answer(claude, /Accessing workspace/);
    const { registry } = setting.shared.threads;
    const { dialog } = registry.get(claude.thread) ?? {};
    if (dialog === undefined) throw new Error('no card is recorded');
    registry.change(claude.thread, { dialog: { ...dialog, message: '' } });
    await setting.restart();
    await vi.waitFor(() => expect(claude.record().dialog?.message).toBe(dialog.message), WAIT);
    expect(await cardsIn(setting, claude)).toHaveLength(1);
  });

  it('that was answered while threadmux was down is closed at the start', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    await setting.stop();
    await claude.tell('choice');
    await setting.restart();
    await become(setting, card, /Closed in the terminal/);
  });

  it('is closed when its session ends', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', TRUST);
    const card = await setting.answer(claude, /Accessing workspace/);
    setting.machine.tmux.call('kill-session', '-t', `=${claude.session}`);
    await become(setting, card, /Claude has exited/);
  });

  it('waits for the prompt of a hook, and gives way to it', async () => {
    const setting = await startSetting();
    const { machine } = setting;
    const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
    const shownAt = Date.now();
    await pane.show('dialog-permission-bash'); // no prompt comes: its hook was not installed, or was killed
    const card = await setting.answer(pane.thread, /Bash command/);
    expect(buttonOf(card, 'Yes')).toMatch(/^dialog:/);
    expect(snowflakeTime(card.id) - shownAt).toBeGreaterThan(3_000);
    startHook(machine, pane, pane.input('Bash'));
    await promptIn(setting.workspace, pane.thread);
    const closed = await become(setting, card, /Answer the prompt below/);
    expect(closed.components).toEqual([]);
  });
});

describe('a panel', () => {
  it('that a command opened is posted as text and closed by itself', async () => {
    const { setting, claude } = await begin();
    await setting.say(claude, '/cost');
    const shown = await setting.answer(claude, /^📋 \*\*Usage\*\*/);
    expect(shown.content).toContain('Total cost: $0.01');
    await vi.waitFor(() => expect(claude.noted().map(({ kind }) => kind)).toEqual(['slash', 'key']), WAIT);
    expect(await cardsIn(setting, claude)).toEqual([]);
  });

  it('never holds up messages: five after /cost are submitted in order', async () => {
    const { setting, claude } = await begin();
    const words = ['one', 'two', 'three', 'four', 'five'];
    await setting.say(claude, '/cost');
    for (const word of words) await setting.say(claude, word);
    await untilPrompts(claude, words);
    expect(claude.noted().filter(({ kind }) => kind === 'into-dialog')).toEqual([]);
    expect((await setting.answers(claude)).filter(({ content }) => /Total cost/.test(content))).toHaveLength(1);
  });

  it('that was opened by hand stays open until a message waits', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'cost');
    await aWhile(2_000);
    expect(claude.noted()).toEqual([]);
    await setting.say(claude, 'go on');
    await untilPrompts(claude, ['go on']);
    await setting.answer(claude, /^📋 \*\*Usage\*\* was open/);
  });
});
