// A program that is slow to take a key still shows what the key was for. Whatever comes next would reach what the program shows then.

import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import type { WireMessage } from '../support/workspace.ts';
import { aWhile, laterBy, type Setting, shareSetting, startSetting, untilPrompts, WAIT } from './bridge-setup.ts';
import { tap } from './tap-message.ts';

const begin = shareSetting();
const SCREEN = /^```\nStand-in[\s\S]*Bash command/;
const CARD = /^🔔/;
const SLOW_MS = 2_500;
/** Longer than a card waits for an effect. */
const SLOWER_MS = 5_000;

/** Waits until the thread has this many such messages; resolves with the last one. */
const said = (setting: Setting, claude: FakeClaude, pattern: RegExp, count: number): Promise<WireMessage> =>
  vi.waitFor(async () => {
    const fitting = (await setting.answers(claude)).filter(({ content }) => pattern.test(content));
    expect(fitting).toHaveLength(count);
    return fitting.at(-1) as WireMessage;
  }, WAIT);

interface Scene {
  readonly setting: Setting;
  readonly claude: FakeClaude;
  readonly screen: WireMessage;
}

/** A dialog that the thread shows, and behind it one that nobody has seen. */
async function showDialog(slowMs: number, withCard: boolean): Promise<Scene> {
  const { setting, claude } = await begin();
  await claude.tell('dialog', 'make');
  await claude.tell('next', ['rm -rf /']);
  await setting.say(claude, '!screen');
  const screen = await said(setting, claude, SCREEN, 1);
  if (withCard) await said(setting, claude, CARD, 1);
  await claude.tell('slow', slowMs);
  return { setting, claude, screen };
}

const write = (key: string) => (scene: Scene) => scene.setting.say(scene.claude, key);
const tapScreen = (label: string) => (scene: Scene) => tap(scene.setting, scene.screen, label);
const tapCard = async ({ setting, claude }: Scene) => tap(setting, await said(setting, claude, CARD, 1), 'Yes');
const seeAgain = async ({ setting, claude }: Scene) => {
  await setting.say(claude, '!screen');
  await said(setting, claude, SCREEN, 2);
};
const tapSecondScreen = async ({ setting, claude }: Scene) =>
  tap(setting, await said(setting, claude, SCREEN, 2), 'Enter');
const untilAnswered = ({ setting, claude }: Scene) => said(setting, claude, SCREEN, 2);

describe('while a program still has to take a key, nothing reaches the dialog behind it:', () => {
  it.each<readonly [string, readonly ((scene: Scene) => Promise<unknown>)[]]>([
    ['a key written twice', [write('!enter'), untilAnswered, write('!enter')]],
    ['a written key and a button', [write('!enter'), untilAnswered, tapSecondScreen]],
    ['a written key and a card', [write('!enter'), untilAnswered, tapCard]],
    ['a button and a written key', [tapScreen('Enter'), () => aWhile(), seeAgain, write('!enter')]],
    ['a button under two screens', [tapScreen('Enter'), () => aWhile(), seeAgain, tapSecondScreen]],
    [
      'a button, “Screen” and the button',
      [tapScreen('Enter'), () => aWhile(900), tapScreen('Screen'), () => aWhile(), tapScreen('Enter')],
    ],
    ['a card and a written key', [tapCard, () => aWhile(), write('!enter')]],
    ['a card tapped twice', [tapCard, () => aWhile(3_500), tapCard]],
  ])('%s', async (_, steps) => {
    const slowMs = steps.indexOf(tapCard) === steps.lastIndexOf(tapCard) ? SLOW_MS : SLOWER_MS;
    const scene = await showDialog(slowMs, steps.includes(tapCard));
    for (const step of steps.slice(0, -1)) await step(scene);
    laterBy(3_000); // so that the screen before the last step could be read
    await steps.at(-1)?.(scene);
    await vi.waitFor(() => expect(scene.claude.noted()).not.toEqual([]), WAIT);
    await aWhile(slowMs + 500);
    expect(scene.claude.noted()).toEqual([{ kind: 'approved', text: 'make' }]);
  });

  it('a key, a restart and a key', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await claude.tell('dialog', 'make');
    await claude.tell('next', ['rm -rf /']);
    await setting.say(claude, '!screen');
    await said(setting, claude, SCREEN, 1);
    await claude.tell('slow', 2 * SLOWER_MS);
    await setting.say(claude, '!enter');
    await said(setting, claude, SCREEN, 2);
    await setting.restart();
    await setting.say(claude, '!screen');
    await said(setting, claude, SCREEN, 3);
    await setting.say(claude, '!enter');
    await setting.answer(claude, /^⚠️ Not pressed: the program still shows/);
    await vi.waitFor(() => expect(claude.noted()).not.toEqual([]), WAIT);
    await aWhile(2 * SLOWER_MS + 500);
    expect(claude.noted()).toEqual([{ kind: 'approved', text: 'make' }]);
  });

  it('Esc and a written key', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { title: 'Select model', options: ['Default', 'Opus'], at: 0, numbered: true });
    await claude.tell('dialog', 'rm -rf /'); // shown when the list is closed
    const shown = /^```\nStand-in[\s\S]*Select model/;
    await setting.say(claude, '!screen');
    await said(setting, claude, shown, 1);
    await claude.tell('slow', SLOW_MS);
    await setting.say(claude, '!esc');
    await said(setting, claude, shown, 2);
    await setting.say(claude, '!enter');
    await vi.waitFor(() => expect(claude.noted()).not.toEqual([]), WAIT);
    await aWhile(SLOW_MS + 500);
    expect(claude.noted()).toEqual([{ kind: 'chosen', text: 'Esc' }]);
  });

  it('an arrow, and Enter for the option that is still highlighted', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { title: 'Select model', options: ['Default', 'Opus'], at: 0, numbered: true });
    const shown = /^```\nStand-in[\s\S]*Select model/;
    await setting.say(claude, '!screen');
    await said(setting, claude, shown, 1);
    await claude.tell('slow', SLOW_MS);
    await setting.say(claude, '!down');
    await said(setting, claude, shown, 2);
    await setting.say(claude, '!enter');
    await setting.answer(claude, /^⚠️ Not pressed: the program still shows/);
    await aWhile(SLOW_MS + 500);
    expect(claude.noted().filter(({ kind }) => kind === 'chosen')).toEqual([]);
  });

  it('a key written twice in the box', async () => {
    const { setting, claude } = await begin();
    await claude.tell('draft', '/model');
    await setting.say(claude, '!screen');
    await said(setting, claude, /^```\nStand-in/, 1);
    await claude.tell('slow', SLOW_MS);
    await setting.say(claude, '!enter');
    await said(setting, claude, /^```\nStand-in/, 2);
    await setting.say(claude, '!enter');
    await vi.waitFor(() => expect(claude.noted()).not.toEqual([]), WAIT);
    await aWhile(SLOW_MS + 500);
    expect(claude.noted()).toEqual([{ kind: 'slash', text: '/model' }]);
  });
});

describe('a text for a program that does not show it yet', () => {
  it.each([true, false])('answers no dialog that opens before it (which takes the text: %s)', async (takesText) => {
    const { setting, claude } = await begin();
    await claude.tell('offer', { title: 'Delete everything?', options: ['Yes', 'No'], at: 0, help: '', takesText });
    await claude.tell('slow', 3_000);
    const message = await setting.say(claude, 'hello');
    await setting.answer(claude, /Delete everything/);
    await aWhile(3_500);
    expect(claude.noted()).toEqual([]);
    await claude.tell('slow', 0);
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Down', 'Enter');
    await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['hello']);
  });

  it.each([4_000, 13_000])('is submitted when it is shown, after %i ms', async (slowMs) => {
    const { setting, claude } = await begin();
    await claude.tell('slow', slowMs);
    const message = await setting.say(claude, 'hello');
    await aWhile(slowMs + 500);
    await claude.tell('slow', 0);
    await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['hello']);
  });
});
