// Decides whether keys are pressed. Pure. In an agent's session, and in every dialog, a key is for the screen that the thread showed last,
// and for no other: nobody has read what another screen asks.

import { isNewer } from '../core/snowflake.ts';
import type { PressedKeys, ThreadScreen } from './shown-screens.ts';

export interface AskedKeys {
  readonly keys: readonly string[];
  /** The id of the command or tap. */
  readonly id: string;
  /** When it was written (`performance.now`), and by whom. */
  readonly at: number;
  readonly by: string;
  /** The message that a written key replies to. */
  readonly repliedTo: string | undefined;
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
  readonly now: {
    readonly print: string;
    readonly isAgent: boolean;
    readonly hasDialog: boolean;
    /** Its beginning is not on the screen. */
    readonly isCut: boolean;
  };
  readonly shown: ThreadScreen | undefined;
  readonly last: PressedKeys | undefined;
  /** See `ShownScreens.isPending`. */
  readonly isPending: boolean;
}

/**
 * `unseen`: the thread did not show this screen before the keys were asked for. `sudden`: it did a moment before, and nobody can have read it.
 * `cut`: only a part of the dialog is on the screen. `several`: only one key may be pressed for one screen.
 * `pending`: the program may still have to take the last key. `used`: a button of this message was tapped, and the next screen is not
 * shown yet.
 */
export type KeyDecision = 'press' | 'cut' | 'unseen' | 'sudden' | 'several' | 'pending' | 'used';

/** They approve nothing, and an agent can be interrupted at any time. */
const LEAVING: readonly string[] = ['Escape', 'C-c'];
/** Any other key may answer a dialog or open one, and a key after it would be for the next one. Shift-Tab approves all edits in one. */
const MOVING: readonly string[] = ['Up', 'Down', 'Left', 'Right'];

/**
 * A key in this time after a screen appeared may be meant for the one before, as a second one that was written because nothing happened. A
 * written one may come from a phone that does not show the screen yet; a button is on it.
 */
const SUDDEN_MS = { written: 3_000, tapped: 1_000 };

export function decideKeys({ asked, now, shown, last, isPending }: KeyFacts): KeyDecision {
  const { keys, button } = asked;
  if (button === undefined && (areLeaving(keys) || !(now.isAgent || now.hasDialog))) return 'press';
  if (!areMoving(keys.slice(0, -1))) return 'several';
  if (now.isCut && !areLeaving(keys) && !areMoving(keys)) return 'cut';
  if (button !== undefined && shown === undefined && last?.message === button.message) return 'used';
  const isShown = shown !== undefined && shown.print === now.print;
  if (!isShown || !(button === undefined ? isWrittenAfter(asked, shown) : isUnder(button, shown))) return 'unseen';
  if (areLeaving(keys)) return 'press';
  if (isPending) return 'pending';
  const isBox = now.isAgent && !now.hasDialog;
  const isExpected = shown.askedBy === asked.by && (button !== undefined || shown.how === 'posted');
  if (isBox || areMoving(keys) || isExpected) return 'press';
  return asked.at - shown.at < (button === undefined ? SUDDEN_MS.written : SUDDEN_MS.tapped) ? 'sudden' : 'press';
}

/** The message of a slash command was there before its screen: only our clock says what came later. */
function isWrittenAfter({ id, at, repliedTo }: AskedKeys, shown: ThreadScreen): boolean {
  if (shown.how === 'edited' || (repliedTo ?? shown.message) !== shown.message) return false;
  return isNewer(id, shown.message) && (shown.how === 'posted' || at > shown.at);
}

function isUnder(button: KeyButton, shown: ThreadScreen): boolean {
  return button.print === shown.print && button.message === shown.message;
}

/** They only move the highlighted option. */
export function areMoving(keys: readonly string[]): boolean {
  return keys.every((key) => MOVING.includes(key));
}

export function areLeaving(keys: readonly string[]): boolean {
  return keys.every((key) => LEAVING.includes(key));
}

/** Whether the program could show another dialog when it has taken the keys. */
export function mayChangeScreen(keys: readonly string[], { isAgent, hasDialog }: KeyFacts['now']): boolean {
  if (hasDialog) return true;
  return isAgent && !areLeaving(keys) && !areMoving(keys);
}
