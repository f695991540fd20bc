// A key that is written as text is pressed in an agent's session only if the thread showed its screen before it was written.

import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import { lateAnswer } from '../support/late-answer.ts';
import { aWhile, laterBy, type Setting, shareSetting, startSetting, WAIT } from './bridge-setup.ts';

const begin = shareSetting();
const UNSEEN = /^⚠️ Not pressed: the screen has changed, or was not shown/;

const SUDDEN = /^⚠️ Not pressed: the thread shows this screen only since a moment ago/;

const approved = (claude: FakeClaude) =>
  claude.noted().flatMap(({ kind, text }) => (kind === 'approved' ? [text] : []));

/** Shows the screen in the thread, as a user does before a key. */
async function look(setting: Setting, claude: FakeClaude, content: RegExp) {
  await setting.say(claude, '!screen');
  await setting.answer(claude, content);
}

/** Waits until the thread has this many answers. */
const untilSaid = (setting: Setting, claude: FakeClaude, pattern: RegExp, count: number) =>
  vi.waitFor(async () => {
    const said = (await setting.answers(claude)).filter(({ content }) => pattern.test(content));
    expect(said).toHaveLength(count);
  }, WAIT);

describe('a written key', () => {
  it.each(['!enter', '!key 1', '!key Down Enter', '!tab'])(
    '%s is not pressed in a dialog that just opened',
    async (order) => {
      const { setting, claude } = await begin();
      await claude.tell('dialog', 'rm -rf /');
      await setting.say(claude, order);
      await setting.answer(claude, UNSEEN);
      expect(claude.noted()).toEqual([]);
      await setting.say(claude, '!enter'); // written because nothing happened
      await setting.answer(claude, SUDDEN);
      expect(claude.noted()).toEqual([]);
      laterBy(3_000);
      await setting.say(claude, '!enter'); // now it can be read
      await vi.waitFor(() => expect(approved(claude)).toEqual(['rm -rf /']), WAIT);
    },
  );

  it('given as a slash command is not pressed there either', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'rm -rf /');
    const { person } = setting.workspace;
    await vi.waitFor(() => person.slash(claude.thread, 'key', [{ name: 'key', value: 'Enter' }]), WAIT);
    await setting.answer(claude, UNSEEN);
    expect(claude.noted()).toEqual([]);
  });

  it('is not pressed if it was written before a slash command showed the screen', async () => {
    // Discord shows “thinking …” at once; the screen comes later.
    const slow = lateAnswer(({ path }) => path.endsWith('/@original'), { kind: 'apply-late' });
    const setting = await startSetting({ faults: slow.faults });
    const claude = await setting.claude('web');
    const { person } = setting.workspace;
    await claude.tell('dialog', 'rm -rf /');
    await person.slash(claude.thread, 'screen', []);
    await vi.waitFor(() => expect(slow.isHeld()).toBe(true), WAIT);
    await setting.say(claude, '!enter');
    slow.answerNow();
    await setting.answer(claude, UNSEEN);
    expect(claude.noted()).toEqual([]);
    await setting.answer(claude, /rm -rf/);
    laterBy(3_000);
    await person.slash(claude.thread, 'key', [{ name: 'key', value: 'Enter' }]);
    await vi.waitFor(() => expect(approved(claude)).toEqual(['rm -rf /']), WAIT);
  });

  it('is not pressed in a dialog that replaced the one on the screen that was shown', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await look(setting, claude, /make/);
    await claude.tell('dialog', 'rm -rf /');
    await setting.say(claude, '!enter');
    await setting.answer(claude, UNSEEN);
    expect(claude.noted()).toEqual([]);
  });

  it('is not pressed in a dialog that is taller than the pane: another one may look the same', async () => {
    const { setting, claude } = await begin();
    const rest = Array.from({ length: 60 }, (_, at) => `   : ${at}`).join('\n');
    await claude.tell('dialog', `make\n${rest}`);
    await claude.tell('next', [`rm -rf /\n${rest}`]);
    await look(setting, claude, /: 59/);
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Enter');
    await vi.waitFor(() => expect(claude.noted()).toHaveLength(1), WAIT);
    laterBy(3_000);
    await setting.say(claude, '!enter');
    await setting.answer(claude, /^⚠️ Not pressed: only a part of this dialog is on the screen/);
    expect(claude.noted()).toHaveLength(1);
  });

  it('that replies to an older screen is not pressed in the dialog that the thread showed later', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await setting.say(claude, '!screen');
    const { id: replyTo } = await setting.answer(claude, /make/);
    await claude.tell('dialog', 'rm -rf /');
    await look(setting, claude, /rm -rf/);
    await setting.workspace.person.say(claude.thread, '!enter', { replyTo });
    await setting.answer(claude, UNSEEN);
    expect(claude.noted()).toEqual([]);
  });

  it('written twice leaves the next dialog open, also if the first one is slow to close', async () => {
    let isSlow = false;
    const onRequest = ({ method, body }: { method: string; body: unknown }) =>
      isSlow && method === 'POST' && JSON.stringify(body ?? '').includes('Bash command')
        ? { kind: 'delay' as const, ms: 1_000 }
        : undefined;
    const setting = await startSetting({ faults: { onRequest } });
    const claude = await setting.claude('web');
    await claude.tell('dialog', 'make');
    await claude.tell('next', ['rm -rf /']);
    await look(setting, claude, /make/);
    isSlow = true;
    await claude.tell('slow', 2_000);
    await setting.say(claude, '!enter');
    await setting.say(claude, '!enter');
    await setting.answer(claude, UNSEEN);
    await vi.waitFor(() => expect(approved(claude)).toEqual(['make']), WAIT);
    await aWhile(2_500);
    expect(approved(claude)).toEqual(['make']);
  });

  it('is not followed by another one that could answer the next dialog', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await claude.tell('next', ['rm -rf /']);
    for (const [at, order] of ['!key Enter Enter', '!key Escape Enter', '!key 1 Enter'].entries()) {
      await setting.say(claude, '!screen');
      await untilSaid(setting, claude, /Bash command/, at + 1);
      await setting.say(claude, order);
      await untilSaid(setting, claude, /^⚠️ Not pressed: only arrows/, at + 1);
    }
    expect(claude.noted()).toEqual([]);
  });

  it.each(['!key Enter Enter', '!key Enter Down Enter', '!key Enter 1', '!key Escape Enter'])(
    '%s is not pressed in the box either: the first one may open a dialog, and the last one would answer it',
    async (order) => {
      const { setting, claude } = await begin();
      await claude.tell('draft', '/model');
      await look(setting, claude, /model/);
      await setting.say(claude, order);
      await setting.answer(claude, /^⚠️ Not pressed: only arrows/);
      expect(claude.noted()).toEqual([]);
    },
  );

  it('written twice in the box leaves the dialog open that the first one opens, also if that is slow', async () => {
    const { setting, claude } = await begin();
    await claude.tell('draft', '/model');
    await look(setting, claude, /model/);
    await claude.tell('slow', 2_000);
    await setting.say(claude, '!enter');
    await setting.say(claude, '!enter');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'slash', text: '/model' }]), WAIT);
    await aWhile(4_500);
    expect(claude.noted()).toEqual([{ kind: 'slash', text: '/model' }]);
  });

  it('is not pressed in a box that the thread did not show, and is pressed once it did', async () => {
    const { setting, claude } = await begin();
    await claude.tell('draft', '/model');
    await setting.say(claude, '!enter');
    await setting.answer(claude, UNSEEN);
    expect(claude.noted()).toEqual([]);
    await setting.say(claude, '!enter');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'slash', text: '/model' }]), WAIT);
  });

  it('that can only leave a dialog is pressed at once', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'rm -rf /');
    await setting.say(claude, '!stop');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'key', text: '\u001b' }]), WAIT);
  });
});
