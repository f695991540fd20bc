// In an agent's session, a key is pressed only for the screen that the thread showed last.

import { describe, expect, it } from 'vitest';
import { decideKeys, mayChangeScreen } from '../../bridge/decide-keys.ts';

type Facts = Parameters<typeof decideKeys>[0];

const AGENT = { print: 'a', isAgent: true, hasDialog: false };
const DIALOG = { print: 'a', isAgent: true, hasDialog: true };
const PROGRAM = { print: 'a', isAgent: false, hasDialog: false };
const SHOWN = { print: 'a', message: '10', isPosted: true };
const BUTTON = { print: 'a', message: '10' };

const facts = (change: Partial<Facts> & { keys?: readonly string[]; id?: string; button?: typeof BUTTON }): Facts => {
  const { keys = ['Enter'], id = '11', button, ...others } = change;
  return { asked: { keys, id, button }, now: DIALOG, shown: SHOWN, last: undefined, isPending: false, ...others };
};

describe('written keys', () => {
  it.each<readonly [string, Facts, ReturnType<typeof decideKeys>]>([
    ['in the dialog that was shown', facts({}), 'press'],
    ['in the box that was shown', facts({ now: AGENT }), 'press'],
    ['in a dialog that nothing has shown', facts({ shown: undefined }), 'unseen'],
    ['in a box that nothing has shown', facts({ now: AGENT, shown: undefined }), 'unseen'],
    ['in another dialog than was shown', facts({ shown: { ...SHOWN, print: 'b' } }), 'unseen'],
    ['written before the screen was shown', facts({ id: '9' }), 'unseen'],
    [
      'under a message that was edited, at a time that nobody knows',
      facts({ shown: { ...SHOWN, isPosted: false } }),
      'unseen',
    ],
    ['while the last key is not taken', facts({ isPending: true }), 'pending'],
    ['with arrows before the last one', facts({ keys: ['Up', 'Down', 'Left', 'Right', 'Enter'] }), 'press'],
    ['with Shift-Tab before the last one, which approves all edits', facts({ keys: ['BTab', 'Enter'] }), 'several'],
    ['with Tab or Space before the last one', facts({ keys: ['Tab', 'Space', 'Enter'] }), 'several'],
    ['with Enter before the last one', facts({ keys: ['Enter', 'Enter'] }), 'several'],
    ['with Escape before the last one', facts({ now: AGENT, keys: ['Escape', 'Enter'] }), 'several'],
    ['that only leave, in a dialog that nobody has seen', facts({ keys: ['Escape'], shown: undefined }), 'press'],
    ['that only leave, while the last key is not taken', facts({ keys: ['C-c'], isPending: true }), 'press'],
    ['in a program that is no agent', facts({ now: PROGRAM, shown: undefined, keys: ['y', 'Enter'] }), 'press'],
    [
      'in a dialog of a program that is no agent',
      facts({ now: { ...DIALOG, isAgent: false }, shown: undefined }),
      'unseen',
    ],
  ])('%s', (_, given, decision) => expect(decideKeys(given)).toBe(decision));
});

describe('a key button', () => {
  it.each<readonly [string, Facts, ReturnType<typeof decideKeys>]>([
    ['under the screen that was shown last', facts({ button: BUTTON }), 'press'],
    ['in a program that is no agent', facts({ button: BUTTON, now: PROGRAM }), 'press'],
    ['under a message that was edited', facts({ button: BUTTON, shown: { ...SHOWN, isPosted: false } }), 'press'],
    ['under a screen that is not shown any more', facts({ button: { ...BUTTON, print: 'b' } }), 'unseen'],
    ['under an older message with the same screen', facts({ button: { ...BUTTON, message: '5' } }), 'unseen'],
    ['of another process', facts({ button: BUTTON, shown: undefined }), 'unseen'],
    ['when the pane shows something else', facts({ button: BUTTON, now: { ...DIALOG, print: 'b' } }), 'unseen'],
    [
      'when a program that is no agent shows something else',
      facts({ button: BUTTON, now: { ...PROGRAM, print: 'b' } }),
      'unseen',
    ],
    ['tapped twice', facts({ button: BUTTON, shown: undefined, last: { print: 'a', message: '10', at: 0 } }), 'used'],
    ['while the last key is not taken', facts({ button: BUTTON, isPending: true }), 'pending'],
    ['Esc, while the last key is not taken', facts({ button: BUTTON, keys: ['Escape'], isPending: true }), 'press'],
    ['Esc, under an older screen', facts({ button: { ...BUTTON, print: 'b' }, keys: ['Escape'] }), 'unseen'],
  ])('%s', (_, given, decision) => expect(decideKeys(given)).toBe(decision));
});

it.each<readonly [readonly string[], Facts['now'], boolean]>([
  [['Enter'], DIALOG, true],
  [['Down'], DIALOG, true],
  [['Escape'], DIALOG, true],
  [['Enter'], AGENT, true],
  [['Escape'], AGENT, false],
  [['Left', 'Left'], AGENT, false],
  [['Enter'], PROGRAM, false],
])('after %s, the next key waits for another screen: %o', (keys, now, expected) =>
  expect(mayChangeScreen(keys, now)).toBe(expected),
);
