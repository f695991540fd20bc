// Decides whether keys are pressed. Pure. In an agent's session, and in every dialog, a key is for the screen that the thread showed last,
// and for no other: nobody has read what another screen asks.

import { isNewer } from '../core/snowflake.ts';
import type { PressedKeys, ThreadScreen } from './shown-screens.ts';

export interface AskedKeys {
  readonly keys: readonly string[];
  /** The id of the command or tap. */
  readonly id: string;
  /** Undefined if they were written. */
  readonly button: KeyButton | undefined;
}

/** A tapped button: the fingerprint of the screen that it was shown under, and its message. */
export interface KeyButton {
  readonly print: string | undefined;
  readonly message: string;
}

interface KeyFacts {
  readonly asked: AskedKeys;
  /** What the pane shows now. */
  readonly now: { readonly print: string; readonly isAgent: boolean; readonly hasDialog: boolean };
  readonly shown: ThreadScreen | undefined;
  readonly last: PressedKeys | undefined;
  /** See `ShownScreens.isPending`. */
  readonly isPending: boolean;
}

/**
 * `unseen`: the thread did not show this screen before the keys were asked for. `several`: only one key may be pressed for one screen.
 * `pending`: the program may still have to take the last key. `used`: a button of this message was tapped, and the next screen is not
 * shown yet.
 */
export type KeyDecision = 'press' | 'unseen' | 'several' | 'pending' | 'used';

/** They approve nothing, and an agent can be interrupted at any time. */
const LEAVING: readonly string[] = ['Escape', 'C-c'];
/** Any other key may answer a dialog or open one, and a key after it would be for the next one. Shift-Tab approves all edits in one. */
const MOVING: readonly string[] = ['Up', 'Down', 'Left', 'Right'];

export function decideKeys({ asked, now, shown, last, isPending }: KeyFacts): KeyDecision {
  const { keys, id, button } = asked;
  if (button === undefined && (areLeaving(keys) || !(now.isAgent || now.hasDialog))) return 'press';
  if (!keys.slice(0, -1).every((key) => MOVING.includes(key))) return 'several';
  if (button !== undefined && shown === undefined && last?.message === button.message) return 'used';
  const isShown = shown !== undefined && shown.print === now.print;
  const isMeant =
    button === undefined
      ? shown?.isPosted === true && isNewer(id, shown.message)
      : button.print === shown?.print && button.message === shown?.message;
  if (!isShown || !isMeant) return 'unseen';
  return isPending && !areLeaving(keys) ? 'pending' : 'press';
}

export function areLeaving(keys: readonly string[]): boolean {
  return keys.every((key) => LEAVING.includes(key));
}

/** Whether the program could show another dialog when it has taken the keys. */
export function mayChangeScreen(keys: readonly string[], { isAgent, hasDialog }: KeyFacts['now']): boolean {
  if (hasDialog) return true;
  return isAgent && !areLeaving(keys) && !keys.every((key) => MOVING.includes(key));
}
