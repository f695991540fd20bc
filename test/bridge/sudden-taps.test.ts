// A tap on buttons that appeared a moment ago was meant for what was there before.

import { describe, expect, it, vi } from 'vitest';
import { createSuddenTaps, isSuddenTap } from '../../bridge/sudden-taps.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import { interactionSchema } from '../../discord/interactions.ts';
import { buttonOf, decisionIn, promptIn, startHook, startPromptPane } from '../support/prompt-pane.ts';
import { aWhile, startSetting, WAIT } from './bridge-setup.ts';
import { openWhispers } from './tap-message.ts';

describe('a tap', () => {
  it.each([
    ['on buttons that are a second old', 1_000, undefined, false],
    ['on newer ones', 999, undefined, true],
    ['a second after one on another message', 5_000, { at: 4_000, message: 'A', button: 'x' }, false],
    ['earlier than that', 5_000, { at: 4_001, message: 'A', button: 'x' }, true],
    ['on the same message, which has not changed', 5_000, { at: 4_900, message: 'B', button: 'other' }, false],
    ['on another button of the same message, which has changed', 300, { at: 200, message: 'B', button: 'other' }, true],
    ['on the same button again', 300, { at: 200, message: 'B', button: 'y' }, false],
  ])('%s', (_, at, last, expected) => {
    expect(isSuddenTap({ at, message: 'B', button: 'y' }, 0, last)).toBe(expected);
  });

  const tapped = (button: string, { type = 3, editedMs = 0 } = {}) =>
    interactionSchema.parse({
      id: snowflakeAt(1_700_000_005_500),
      application_id: '1',
      token: 't',
      type,
      channel_id: '7',
      message: {
        id: snowflakeAt(1_700_000_000_000),
        author: { id: '1' },
        edited_timestamp: editedMs === 0 ? null : new Date(1_700_000_000_000 + editedMs).toISOString(),
      },
      data: { custom_id: button },
    });

  it.each([
    ['a message that was edited a moment before', 'p:x', { editedMs: 5_000 }, true],
    ['a message that was edited earlier', 'p:x', { editedMs: 4_500 }, false],
    ['a form', 'p:x', { type: 5, editedMs: 5_000 }, false],
    ['a key, which has its own rule', 'key:Enter:abc', { editedMs: 5_000 }, false],
    ['an arrow of a card', 'dialog:abcdefghijklmnop:key-Down', { editedMs: 5_000 }, false],
    ['Enter of a card', 'dialog:abcdefghijklmnop:key-Enter', { editedMs: 5_000 }, true],
  ])('is judged by the clock of Discord: %s', (_, button, how, expected) => {
    expect(createSuddenTaps()(tapped(button, how))).toBe(expected);
  });
});

it('a double click on Allow does not allow the next prompt', async () => {
  const setting = await startSetting();
  const { person } = setting.workspace;
  const pane = await startPromptPane(setting.machine, 'web');
  await pane.show('dialog-permission-bash');
  const whispers = await openWhispers(setting);
  const ask = async (command: string) => {
    const hook = startHook(setting.machine, pane, pane.input('Bash', { tool_input: { command } }));
    return { hook, message: await promptIn(setting.workspace, pane.thread, new RegExp(command)) };
  };
  const first = await ask('git status');
  await person.tap(pane.thread, first.message.id, buttonOf(first.message, 'Allow'));
  const second = await ask('rm -rf build');
  await person.tap(pane.thread, second.message.id, buttonOf(second.message, 'Allow'), { sudden: true });
  await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/^⚠️ Nothing was done/)]), WAIT);
  await aWhile();
  expect([decisionIn(await first.hook.printed).behavior, second.hook.hasEnded()]).toEqual(['allow', false]);
  await person.tap(pane.thread, second.message.id, buttonOf(second.message, 'Deny'));
  expect(decisionIn(await second.hook.printed).behavior).toBe('deny');
});

it('a double click on an option does not answer the next question of the same message', async () => {
  const setting = await startSetting();
  const { person } = setting.workspace;
  const pane = await startPromptPane(setting.machine, 'web');
  await pane.show('dialog-question-first');
  const hook = startHook(setting.machine, pane, pane.input('AskUserQuestion.two-questions'));
  const one = await promptIn(setting.workspace, pane.thread, /\(1 of 2\)/);
  await person.tap(pane.thread, one.id, buttonOf(one, '1. '));
  const two = await promptIn(setting.workspace, pane.thread, /\(2 of 2\)/);
  const whispers = await openWhispers(setting);
  await person.tap(pane.thread, two.id, buttonOf(two, 'Other'), { sudden: true });
  await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/^⚠️ Nothing was done/)]), WAIT);
  expect(hook.hasEnded()).toBe(false);
});
