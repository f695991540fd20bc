// !screen: the pane as a picture, which the buttons below it update in place.

import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import { readPng } from '../support/png.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import { type Setting, startSetting, WAIT } from './bridge-setup.ts';

const PICTURED = /^What `web` shows:$/;

async function begin() {
  const setting = await startSetting();
  const claude = await setting.claude('web');
  await setting.say(claude, '!screen');
  return { setting, claude, shown: await setting.answer(claude, PICTURED) };
}

const pixelsOf = async ({ attachments: [file] }: WireMessage) =>
  readPng(new Uint8Array(await (await fetch(file?.url ?? '')).arrayBuffer()));

/** The message once it matches. */
const become = (setting: Setting, claude: FakeClaude, { id }: WireMessage, fits: (message: WireMessage) => void) =>
  vi.waitFor(async () => {
    const now = (await setting.answers(claude)).find((message) => message.id === id);
    if (now === undefined) throw new Error('the message is gone');
    fits(now);
    return now;
  }, WAIT);

describe('!screen', () => {
  it('shows the pane as a picture, with its text as the description', async () => {
    const { shown } = await begin();
    expect(shown.attachments).toMatchObject([
      {
        filename: 'screen.png',
        description: expect.stringContaining('Stand-in for Claude Code'),
      },
    ]);
    const { width, height } = await pixelsOf(shown);
    expect([width, height]).toEqual([120 * 17 + 34, expect.toSatisfy((value: number) => value % 33 === 1)]);
    expect(JSON.stringify(shown.components)).toContain('key:look');
  });

  it('updates its picture in place after a key', async () => {
    const { setting, claude, shown } = await begin();
    const before = (await setting.answers(claude)).length;
    await setting.workspace.person.tap(claude.thread, shown.id, buttonOf(shown, '↓'));
    const now = await become(setting, claude, shown, ({ attachments }) => {
      expect(attachments).toHaveLength(1);
      expect(attachments[0]?.id).not.toBe(shown.attachments[0]?.id);
    });
    expect(claude.noted().map(({ text }) => text)).toEqual(['\u001b[B']);
    expect(now.content).toMatch(PICTURED);
    expect(JSON.stringify(now.components)).toContain('key:Escape');
    expect((await pixelsOf(now)).width).toBeGreaterThan(0);
    expect(await setting.answers(claude)).toHaveLength(before);
  });

  it('shows text where the font lacks a character, and a picture again afterwards', async () => {
    const { setting, claude, shown } = await begin();
    const { person } = setting.workspace;
    await claude.tell('draft', '漢字');
    await person.tap(claude.thread, shown.id, 'key:look');
    const text = await become(setting, claude, shown, ({ content }) => expect(content).toContain('漢字'));
    expect(text).toMatchObject({ content: expect.stringContaining('```'), attachments: [] });
    await claude.tell('draft', 'kanji');
    await person.tap(claude.thread, shown.id, 'key:look');
    await become(setting, claude, shown, ({ content, attachments }) => {
      expect(content).toMatch(PICTURED);
      expect(JSON.stringify(attachments)).toContain('kanji');
    });
  });

  it('removes the picture when there is nothing left to show', async () => {
    const { setting, claude, shown } = await begin();
    setting.machine.tmux.call('kill-session', '-t', '=web');
    await setting.workspace.person.tap(claude.thread, shown.id, buttonOf(shown, 'Enter'));
    await become(setting, claude, shown, ({ content, attachments }) => {
      expect(content).not.toMatch(PICTURED);
      expect(attachments).toEqual([]);
    });
  });
});
