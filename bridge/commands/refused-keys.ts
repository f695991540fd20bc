// Why keys are not pressed, and what is said then.

import type { PaneRefusal } from '../../tmux/pane.ts';

/** `several`: they are not for one screen. `early`: nobody has seen yet what the last key did, and a busy program may still have to do it. */
export type Refused = { readonly kind: 'refused'; readonly because: PaneRefusal | 'several' | 'early' | 'pending' };
export const CHANGED: Refused = { kind: 'refused', because: 'changing' };
export const UNSEEN: Refused = { kind: 'refused', because: 'dialog' };
export const SEVERAL: Refused = { kind: 'refused', because: 'several' };
export const EARLY: Refused = { kind: 'refused', because: 'early' };
export const NOT_TAKEN: Refused = { kind: 'refused', because: 'pending' };

/** With the screen below them. */
export const LOOK_FIRST: Readonly<Record<string, string>> = {
  dialog:
    'a dialog is open. Check it here, then use the buttons or write the key again. Only arrows, Tab and Space may come before another key',
  changing: 'the screen has changed. Use the buttons under this new screen',
  pending:
    'the program still shows the screen of the last key, and may have to take it yet. Try again when the screen has changed, or in 15 seconds',
  early: 'the thread did not show yet what the key before it did. Check it here, then write the key again',
};

export const WHY: Readonly<Record<string, string>> = {
  gone: 'the pane is gone',
  dead: 'the program in the pane has ended',
  'other-server': 'tmux was restarted',
  'other-process': 'another program runs in that pane now',
  'input-off': 'the pane takes no input',
  synchronized: 'the pane shares its input with others',
  several:
    'only arrows, Tab and Space may come before another key, because any other key may open a dialog that nobody has seen. Write one key, and the next one when you see what it did',
};
