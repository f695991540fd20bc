// Answers a dialog with keys. The highlighted option is moved to the wanted one and looked at before Enter is pressed, and tmux
// checks the same lines once more at the moment of the key.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../../agents/driver.ts';
import type { AgentDialog } from '../../agents/screen.ts';
import { dialogPatterns, screenFingerprint } from '../../agents/screen-fingerprint.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readPane } from '../../threads/read-pane.ts';
import { pressInDialog } from '../../tmux/keys.ts';
import { lookAtPane, type PaneLook } from '../../tmux/look.ts';
import type { ShownScreens } from '../shown-screens.ts';
import { type CardAction, dialogPrint, MARK, type TapAction } from './card-text.ts';

export interface SeenDialog {
  readonly look: PaneLook;
  readonly dialog: AgentDialog;
  readonly driver: AgentDriver;
  readonly print: string;
}

export type Chosen =
  /** `on`: the fingerprint of the screen on which the last key was pressed. */
  | { readonly kind: 'chosen'; readonly label: string; readonly on: string }
  /** It moved in the list, or a key was pressed that need not end the dialog. */
  | { readonly kind: 'moved'; readonly on: string }
  /** The highlighted option could not be moved there; `on` if a key for it had no effect so far. */
  | { readonly kind: 'stuck'; readonly on?: string }
  /** The program still shows the screen of the last key. */
  | { readonly kind: 'pending' }
  /** Nothing was answered: another dialog is open, or none. */
  | { readonly kind: 'changed' }
  /** The field for a text is not empty. */
  | { readonly kind: 'full' }
  /** The text is in its field, but Enter was not pressed. */
  | { readonly kind: 'written' };

const LOOKS = 20;
const LOOK_MS = 50;

export async function seeDialog({ tmux, record }: FoundPane): Promise<SeenDialog | undefined> {
  const look = await lookAtPane(tmux, record);
  if (look.kind === 'gone' || look.panePid !== record.panePid) return undefined;
  const { screen, isAgent, driver } = readPane({ ...look, mode: undefined }, record);
  if (screen.kind !== 'dialog' || !isAgent) return undefined;
  return { look, dialog: screen, driver, print: dialogPrint(record, screen, look.historyLines) };
}

/** `choose` is called only if the program has taken the last key: another one would reach the next dialog. Esc approves nothing. */
export async function unlessPending(
  pane: FoundPane,
  screens: ShownScreens,
  action: CardAction,
  choose: () => Promise<Chosen>,
): Promise<Chosen> {
  const { thread } = pane.record;
  const isLeaving = action.do === 'press' && action.key === 'Escape';
  const before = await seeDialog(pane);
  const isPending = before && screens.isPending(thread, fingerprint(pane, before), before.look.pressedAt);
  if (isPending && !isLeaving) return { kind: 'pending' };
  const note = (print: string) => screens.pressed(thread, { print, message: undefined });
  const chosen = await choose().catch((error: unknown) => {
    if (before !== undefined) note(fingerprint(pane, before)); // a key may have been pressed
    throw error;
  });
  if ('on' in chosen) note(chosen.on);
  return chosen;
}

function fingerprint({ record }: FoundPane, { look, driver }: Pick<SeenDialog, 'look' | 'driver'>): string {
  return screenFingerprint(record.paneId, look, driver.screen);
}

export async function chooseOption(pane: FoundPane, print: string, action: TapAction): Promise<Chosen> {
  const seen = await seeDialog(pane);
  if (seen?.print !== print) return { kind: 'changed' };
  if (action.do === 'press') return press(pane, seen, [action.key], KEY_WORDS[action.key]);
  if (action.do === 'scroll') {
    return press(pane, seen, Array<string>(seen.dialog.options.length - selectedIn(seen)).fill('Down'));
  }
  const wanted = seen.dialog.options[action.option];
  if (wanted === undefined) return { kind: 'changed' };
  if (wanted.key !== undefined) return press(pane, seen, [wanted.key], wanted.label);
  const there = await highlight(pane, seen, action.option);
  if ('kind' in there) return there;
  return press(pane, there, ['Enter'], wanted.label, [highlighted(wanted.label)]);
}

/** These end most dialogs, so the same button must not press them twice. */
const KEY_WORDS: Readonly<Record<string, string>> = { Escape: 'Esc', Enter: 'Enter' };

/**
 * Moves the highlighted option, without Enter. One arrow at a time, and the next one when the list has moved: an arrow that a slow program
 * has yet to take would move the list on before Enter.
 */
export async function highlight(pane: FoundPane, first: SeenDialog, index: number): Promise<SeenDialog | Chosen> {
  const { print, dialog } = first;
  let seen: SeenDialog | undefined = first;
  for (let most = 2 * dialog.options.length; ; most--) {
    if (seen?.print !== print) return { kind: 'changed' };
    const at = selectedIn(seen);
    if (at === index) return seen;
    if (at < 0 || most === 0) return { kind: 'stuck' };
    const moved = await press(pane, seen, [index > at ? 'Down' : 'Up']);
    if (moved.kind !== 'moved') return moved;
    seen = await seeUntil(pane, (now) => now?.print !== print || selectedIn(now) !== at);
    if (seen?.print === print && selectedIn(seen) === at) return { kind: 'stuck', on: moved.on };
  }
}

const selectedIn = ({ dialog }: SeenDialog) => dialog.options.findIndex(({ selected }) => selected);

/** The look that is enough, or the last one after a second. */
export async function seeUntil(
  pane: FoundPane,
  isEnough: (seen: SeenDialog | undefined) => boolean,
): Promise<SeenDialog | undefined> {
  for (let looks = 1; ; looks++) {
    await sleep(LOOK_MS);
    const seen = await seeDialog(pane);
    if (isEnough(seen) || looks >= LOOKS) return seen;
  }
}

export async function press(
  pane: FoundPane,
  { look, driver }: SeenDialog,
  keys: readonly string[],
  label?: string,
  shows: readonly string[] = [],
): Promise<Chosen> {
  const { tmux, record } = pane;
  const guard = guardFor(record, { look, driver }, shows);
  const pressed = await pressInDialog(tmux, guard, keyId(), keys);
  if (pressed.kind === 'refused') return { kind: 'changed' };
  const on = fingerprint(pane, { look, driver });
  return label === undefined ? { kind: 'moved', on } : { kind: 'chosen', label, on };
}

export function guardFor(
  record: FoundPane['record'],
  { look, driver }: Pick<SeenDialog, 'look' | 'driver'>,
  shows: readonly string[],
) {
  return { pane: record, command: look.command, shows: [...dialogPatterns(look, driver.screen), ...shows] };
}

const REACTS_WITHIN_MS = 3_000;

/** Waits until the pane shows something else, or that the option was taken. False if the dialog stays. */
export async function reacts(pane: FoundPane, print: string, signal: AbortSignal): Promise<boolean> {
  for (const began = Date.now(); Date.now() - began < REACTS_WITHIN_MS; ) {
    await sleep(LOOK_MS, undefined, { signal });
    const seen = await seeDialog(pane);
    const isTaken = seen?.dialog.options.some(({ selected, label }) => selected && MARK.test(label));
    if (seen?.print !== print || isTaken) return true;
  }
  return false;
}

/** Presses Esc until the panel is gone. False if it stays. */
export async function dismissPanel(pane: FoundPane, first: SeenDialog): Promise<boolean> {
  const { tmux, record } = pane;
  for (let tries = 0, seen: SeenDialog | undefined = first; tries < 3; tries++) {
    if (seen?.dialog.form !== 'panel' || seen.dialog.which !== first.dialog.which) return true;
    // Its numbers may change at any moment, so only its last line is checked.
    const shows = dialogPatterns(seen.look, seen.driver.screen).slice(-1);
    await pressInDialog(tmux, { pane: record, command: seen.look.command, shows }, keyId(), ['Escape']);
    seen = await seeUntil(pane, (now) => now?.dialog.which !== first.dialog.which);
  }
  return false;
}

/** Random: a lost connection cannot make tmux press the keys of one order twice. */
export function keyId(): string {
  return String(randomBytes(8).readBigUInt64BE());
}

/** The line of the highlighted option, as an extended regular expression. Codex has another arrow. */
export function highlighted(label: string): string {
  return `(❯|›)[^A-Za-z]*${label.slice(0, 30).replace(/[^a-z0-9 ]+/gi, '.*')}`;
}
