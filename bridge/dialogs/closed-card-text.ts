// What is said at the end of a card, and to the user who tapped on it. Pure.

import { bold, untrustedLine } from '../../core/untrusted-text.ts';
import type { DialogCard } from '../../threads/registry.ts';
import type { Chosen } from './choose-option.ts';

export const CLOSED = 'This dialog is already closed. Nothing was pressed.';
const CHANGED = '⚠️ Nothing was pressed: the dialog has changed. Look at its card again.';
export const PENDING = 'This dialog was already answered. Nothing was pressed.';
const WAITING =
  '⚠️ Nothing was pressed: the program may still have to take the last key. Tap again when the card has changed, or in 15 seconds.';
export const OLD = '⚠️ Nothing was pressed: your tap came too late. Tap again.';
const STUCK = '⚠️ Nothing was chosen: the list could not be moved to this option. `!screen` shows the pane.';
const SILENT = '⚠️ Pressed, but the dialog is still open. Look at the card before you tap again.';
const FULL = '⚠️ Nothing was written: something is in the field already. Clear it in the terminal, then tap again.';
const WRITTEN = '⚠️ Your text is in the dialog, but Enter was not pressed. `!screen` shows the pane.';

/** Nothing was written or chosen. */
export const NOTHING_DONE: readonly string[] = [CLOSED, CHANGED, PENDING, WAITING, OLD, STUCK, FULL];

/** `isSame`: the dialog is still open. `hasCard`: and so is its card. Undefined if there is nothing to say. */
export function told(kind: Chosen['kind'], isSame: boolean, hasCard: boolean): string | undefined {
  switch (kind) {
    case 'pending':
      return WAITING;
    case 'stuck':
      return STUCK;
    case 'full':
      return FULL;
    case 'written':
      return WRITTEN;
    case 'changed':
      return hasCard ? CHANGED : CLOSED;
    case 'chosen':
      return isSame ? SILENT : undefined;
    case 'moved':
      return undefined;
  }
}

export function endOfCard(
  { title, answer }: DialogCard,
  how: 'terminal' | 'exited' | 'prompted',
  agent: string,
): string {
  if (answer !== undefined) return `✅ ${bold(title)} ${untrustedLine(answer.label, 200)} — ${answer.by}`;
  if (how === 'exited') return `⏹️ ${bold(title)} ${agent} has exited.`;
  return how === 'prompted' ? `🔔 ${bold(title)} Answer the prompt below.` : `🖥️ ${bold(title)} Closed in the terminal.`;
}
