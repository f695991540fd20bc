// !screen: the pane as text or as a picture, which the buttons below it update in place.

import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import { readPng } from '../support/png.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import { type Setting, startSetting, WAIT } from './bridge-setup.ts';

const PICTURED = /^What `web` shows:$/;

const TEXT = /^```\nStand-in for Claude Code/;

async function begin(order = '!screen image', shows = PICTURED) {
  const setting = await startSetting();
  const claude = await setting.claude('web');
  await setting.say(claude, order);
  return { setting, claude, shown: await setting.answer(claude, shows) };
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
  it('shows the pane as text that fits a phone, and as a picture on request', async () => {
    const { setting, claude, shown } = await begin('!screen', TEXT);
    expect(shown.attachments).toEqual([]);
    for (const line of shown.content.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    await setting.workspace.person.tap(claude.thread, shown.id, buttonOf(shown, 'As a picture'));
    const now = await become(setting, claude, shown, ({ content }) => expect(content).toMatch(PICTURED));
    expect(now.attachments).toMatchObject([
      { filename: 'screen.png', description: expect.stringContaining('Stand-in for Claude Code') },
    ]);
    const { width, height } = await pixelsOf(now);
    // The rules of the box are as wide as the pane; the picture is not.
    expect([width, height]).toEqual([40 * 17 + 34, expect.toSatisfy((value: number) => value % 33 === 1)]);
    await setting.workspace.person.tap(claude.thread, shown.id, buttonOf(now, 'Screen'));
    const text = await become(setting, claude, shown, ({ content }) => expect(content).toMatch(TEXT));
    expect(text.attachments).toEqual([]);
  });

  it('shows the new screen in place after a key', async () => {
    const { setting, claude, shown } = await begin();
    const before = (await setting.answers(claude)).length;
    await setting.workspace.person.tap(claude.thread, shown.id, buttonOf(shown, '↓'));
    const now = await become(setting, claude, shown, ({ content }) => expect(content).toMatch(TEXT));
    expect(now.attachments).toEqual([]);
    expect(claude.noted().map(({ text }) => text)).toEqual(['\u001b[B']);
    expect(JSON.stringify(now.components)).toContain('key:Escape');
    expect(await setting.answers(claude)).toHaveLength(before);
  });

  it('shows text where the font lacks a character, and a picture again afterwards', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await claude.tell('draft', '漢字');
    await setting.say(claude, '!screen image');
    const text = await setting.answer(claude, /漢字/);
    expect(text).toMatchObject({ content: expect.stringContaining('```'), attachments: [] });
    await claude.tell('draft', 'kanji');
    await setting.say(claude, '!screen image');
    const shown = await setting.answer(claude, PICTURED);
    expect(JSON.stringify(shown.attachments)).toContain('kanji');
  });

  it('attaches the whole screen if its beginning does not fit into the message', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    setting.machine.tmux.call('resize-window', '-t', '=web:', '-x', '100', '-y', '80');
    const text = Array.from({ length: 60 }, (_, at) => `line ${at} of what is approved`);
    await claude.tell('choice', { title: 'Run this?', text, options: ['Yes', 'No'], at: 0 });
    await setting.say(claude, '!screen');
    const shown = await setting.answer(claude, /^-# Only the end is shown/);
    expect(shown.content).not.toContain('line 0 of');
    expect(shown.attachments).toMatchObject([{ filename: 'screen.txt' }]);
    const whole = await (await fetch(shown.attachments[0]?.url ?? '')).text();
    for (const line of text) expect(whole).toContain(line);
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
