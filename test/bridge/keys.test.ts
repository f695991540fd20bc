// Keys are pressed for the screen that the person saw, and for what was written while threadmux listened.

import { describe, expect, it, vi } from 'vitest';
import { openCursors } from '../../bridge/cursors.ts';
import { openInbox } from '../../bridge/inbox.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { buttonOf, messageNow } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import { aWhile, type Setting, startSetting, WAIT } from './setting.ts';

const SHOWN = /^What `web` shows:$/;
const CHANGED = /^⚠️ Not pressed: the screen has changed/;
const MISSED = /^⚠️ Not pressed: written while threadmux was not listening/;

async function begin() {
  const setting = await startSetting();
  const claude = await setting.claude('web');
  return { setting, claude };
}

async function screenShown(setting: Setting, claude: FakeClaude): Promise<WireMessage> {
  await setting.say(claude, '!screen');
  return setting.answer(claude, SHOWN);
}

const tap = ({ workspace }: Setting, message: WireMessage, label: string) =>
  workspace.person.tap(message.channel_id, message.id, buttonOf(message, label));

const become = ({ workspace }: Setting, message: WireMessage, content: RegExp) =>
  vi.waitFor(async () => {
    const now = await messageNow(workspace, message);
    expect(now.content).toMatch(content);
    return now;
  }, WAIT);

describe('a key button', () => {
  it('under a screen without the dialog that is there now presses nothing; a fresh one does', async () => {
    const { setting, claude } = await begin();
    const shown = await screenShown(setting, claude);
    await claude.tell('dialog', 'rm -rf /');
    await tap(setting, shown, 'Enter');
    const fresh = await become(setting, shown, CHANGED);
    await aWhile();
    expect(claude.noted()).toEqual([]);
    await tap(setting, fresh, 'Enter');
    await vi.waitFor(
      () => expect(claude.noted()).toEqual([{ kind: 'approved', text: 'rm -rf /' }]),
      WAIT,
    );
  });

  it('under another dialog presses nothing', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    const shown = await screenShown(setting, claude);
    await claude.tell('dialog', 'rm -rf /');
    await tap(setting, shown, 'Enter');
    await become(setting, shown, CHANGED);
    expect(claude.noted()).toEqual([]);
  });

  it('works while Claude is busy, and after a restart', async () => {
    const { setting, claude } = await begin();
    const shown = await screenShown(setting, claude);
    await claude.tell('busy');
    await setting.restart();
    await tap(setting, shown, 'Esc');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'key', text: '\u001b' }]), WAIT);
    expect((await messageNow(setting.workspace, shown)).content).not.toMatch(CHANGED);
  });

  it('under a message that waits answers the dialog it shows', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await setting.say(claude, 'hello');
    await tap(setting, await setting.answer(claude, /^📨 Your message waits/), 'Enter');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['hello']), WAIT);
    expect(claude.noted()[0]).toEqual({ kind: 'approved', text: 'make' });
  });

  it('of an earlier session of the same name presses nothing', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    const shown = await screenShown(setting, claude);
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const next = await setting.claude('web');
    const before = next.noted().length;
    await next.tell('dialog', 'make');
    await setting.workspace.person
      .tap(next.thread, shown.id, buttonOf(shown, 'Enter'))
      .catch(() => tap(setting, shown, 'Enter'));
    await become(setting, shown, /^(⚠️ Not pressed|The pane is gone)/);
    await aWhile();
    expect(next.noted()).toHaveLength(before);
  });
});

describe('a key that was written', () => {
  const KEYS = ['!enter', '!esc', '!key Down Enter', '!stop', '!c'];

  it('while threadmux was down is not pressed, and that is said', async () => {
    const { setting, claude } = await begin();
    await setting.bridge.close();
    for (const order of KEYS) await setting.say(claude, order);
    await claude.tell('dialog', 'rm -rf /');
    await setting.restart();
    await vi.waitFor(async () => {
      const said = (await setting.answers(claude)).filter(({ content }) => MISSED.test(content));
      expect(said).toHaveLength(KEYS.length);
    }, WAIT);
    expect(claude.noted()).toEqual([]);
    await setting.say(claude, '!esc');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'key', text: '\u001b' }]), WAIT);
  });

  it('and that an earlier process left in the inbox is not pressed', async () => {
    const { setting, claude } = await begin();
    await setting.bridge.close();
    const { home } = setting.machine;
    const { id } = await setting.say(claude, '!enter');
    const cursors = openCursors(`${home.folder('state')}/local.cursors.json`);
    const about = { id, channelId: claude.thread, authorId: setting.workspace.userId, author: '' };
    openInbox(home.folder('inbox'), cursors, 'local').take({
      ...about,
      text: '!enter',
      attachments: [],
      liveAt: performance.now(),
    });
    await claude.tell('dialog', 'rm -rf /');
    await setting.restart();
    await setting.answer(claude, MISSED);
    await aWhile();
    expect(claude.noted()).toEqual([]);
  });
});
