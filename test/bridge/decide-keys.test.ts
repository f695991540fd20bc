// In an agent's session, a key is pressed only for the screen that the thread showed last.

import { describe, expect, it } from 'vitest';
import { decideKeys, mayChangeScreen } from '../../bridge/decide-keys.ts';

type Facts = Parameters<typeof decideKeys>[0];

const AGENT = { print: 'a', isAgent: true, hasDialog: false, isCut: false };
const DIALOG = { ...AGENT, hasDialog: true };
const CUT = { ...DIALOG, isCut: true };
const PROGRAM = { ...AGENT, isAgent: false };
const SHOWN = { print: 'a', message: '10', how: 'posted', askedBy: undefined, at: 1_000 } as const;
const REPLIED = { ...SHOWN, how: 'replied' } as const;
const BUTTON = { print: 'a', message: '10' };

const facts = (change: Partial<Facts> & Partial<Facts['asked']>): Facts => {
  const { keys = ['Enter'], id = '11', at = 9_000, by = 'anna', repliedTo, button, ...others } = change;
  return {
    asked: { keys, id, at, by, repliedTo, button },
    now: DIALOG,
    shown: SHOWN,
    last: undefined,
    isPending: false,
    ...others,
  };
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
      facts({ shown: { ...SHOWN, how: 'edited' } }),
      'unseen',
    ],
    ['under the reply to a slash command', facts({ shown: REPLIED }), 'press'],
    ['under such a reply, before it showed the screen', facts({ at: 900, shown: REPLIED }), 'unseen'],
    ['at once, under such a reply', facts({ at: 1_100, shown: { ...REPLIED, askedBy: 'anna' } }), 'sudden'],
    ['at once, in a box under such a reply', facts({ at: 1_100, now: AGENT, shown: REPLIED }), 'press'],
    ['as a reply to the screen', facts({ repliedTo: '10' }), 'press'],
    ['as a reply to an older screen', facts({ repliedTo: '5' }), 'unseen'],
    ['that only leave, as a reply to an older screen', facts({ keys: ['Escape'], repliedTo: '5' }), 'press'],
    ['two seconds after the screen appeared', facts({ at: 3_000 }), 'sudden'],
    ['three seconds after it appeared', facts({ at: 4_000 }), 'press'],
    ['at once, by the person who asked to see it', facts({ at: 1_100, shown: { ...SHOWN, askedBy: 'anna' } }), 'press'],
    ['at once, by somebody else', facts({ at: 1_100, shown: { ...SHOWN, askedBy: 'bert' } }), 'sudden'],
    ['at once, if they only move in the list', facts({ at: 1_100, keys: ['Down', 'Up'] }), 'press'],
    ['at once, in a box', facts({ at: 1_100, now: AGENT }), 'press'],
    ['at once, with an arrow before', facts({ at: 1_100, keys: ['Down', 'Enter'] }), 'sudden'],
    ['while the last key is not taken', facts({ isPending: true }), 'pending'],
    ['with arrows before the last one', facts({ keys: ['Up', 'Down', 'Left', 'Right', 'Enter'] }), 'press'],
    ['with Shift-Tab before the last one, which approves all edits', facts({ keys: ['BTab', 'Enter'] }), 'several'],
    ['with Tab or Space before the last one', facts({ keys: ['Tab', 'Space', 'Enter'] }), 'several'],
    ['with Enter before the last one', facts({ keys: ['Enter', 'Enter'] }), 'several'],
    ['with Escape before the last one', facts({ now: AGENT, keys: ['Escape', 'Enter'] }), 'several'],
    ['that only leave, in a dialog that nobody has seen', facts({ keys: ['Escape'], shown: undefined }), 'press'],
    ['that only leave, while the last key is not taken', facts({ keys: ['C-c'], isPending: true }), 'press'],
    ['in a dialog whose beginning is not on the screen', facts({ now: CUT }), 'cut'],
    ['that leave it', facts({ now: CUT, keys: ['Escape'] }), 'press'],
    ['that move in it', facts({ now: CUT, keys: ['Down'] }), 'press'],
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
    ['in a dialog whose beginning is not on the screen', facts({ button: BUTTON, now: CUT }), 'cut'],
    ['Esc in such a dialog', facts({ button: BUTTON, now: CUT, keys: ['Escape'] }), 'press'],
    ['under a message that was edited', facts({ button: BUTTON, shown: { ...SHOWN, how: 'edited' } }), 'press'],
    ['at once, under the reply to a slash command', facts({ button: BUTTON, at: 1_100, shown: REPLIED }), 'sudden'],
    ['under a screen that is not shown any more', facts({ button: { ...BUTTON, print: 'b' } }), 'unseen'],
    ['under an older message with the same screen', facts({ button: { ...BUTTON, message: '5' } }), 'unseen'],
    ['of another process', facts({ button: BUTTON, shown: undefined }), 'unseen'],
    ['when the pane shows something else', facts({ button: BUTTON, now: { ...DIALOG, print: 'b' } }), 'unseen'],
    [
      'when a program that is no agent shows something else',
      facts({ button: BUTTON, now: { ...PROGRAM, print: 'b' } }),
      'unseen',
    ],
    ['half a second after the screen appeared', facts({ button: BUTTON, at: 1_500 }), 'sudden'],
    ['a second after it appeared', facts({ button: BUTTON, at: 2_000 }), 'press'],
    ['Esc, at once', facts({ button: BUTTON, at: 1_100, keys: ['Escape'] }), 'press'],
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
