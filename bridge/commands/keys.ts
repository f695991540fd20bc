// !stop, !key and its short forms, and the buttons with keys. Only keys from a list can be pressed, so no text can be typed with them,
// and in a dialog only those for which the user has seen it.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { dialogPatterns, screenFingerprint } from '../../agents/screen-fingerprint.ts';
import { ownValue } from '../../core/own-value.ts';
import { isNewer } from '../../core/snowflake.ts';
import { cutMessage } from '../../core/untrusted-text.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readPane } from '../../threads/read-pane.ts';
import { checkedKeys, type Press, pressKeys } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { PaneGuard } from '../../tmux/pane.ts';
import { isFresh } from '../inbox.ts';
import { stillNoDialog } from '../seen-screen.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';
import { CHANGED, EARLY, LOOK_FIRST, NOT_TAKEN, type Refused, SEVERAL, UNSEEN, WHY } from './refused-keys.ts';
import { paneToShow, showScreen } from './screen.ts';
import { streamOf } from './streams.ts';

/** tmux's names for common names of keys. */
const CALLED: Readonly<Record<string, string>> = {
  esc: 'Escape',
  escape: 'Escape',
  enter: 'Enter',
  return: 'Enter',
  tab: 'Tab',
  space: 'Space',
  backspace: 'BSpace',
  up: 'Up',
  down: 'Down',
  left: 'Left',
  right: 'Right',
  c: 'C-c',
  d: 'C-d',
};
const SEEN_AFTER_MS = 400;

export const keyCommand: Command = {
  name: 'key',
  usage: '!key <key…>',
  about: 'press keys, such as `!key Down Enter` (short: !esc !c !d !enter !tab !up !down)',
  run: (order, context) => pressAsked(order, order.rest.split(/\s+/).filter(Boolean).map(named), context),
};

export const shortKeyCommands: readonly Command[] = ['esc', 'c', 'd', 'enter', 'tab', 'up', 'down'].map((name) => ({
  name,
  usage: `!${name}`,
  about: `press ${named(name)}`,
  run: (order, context) => pressAsked(order, [named(name)], context),
}));

function named(word: string): string {
  return ownValue(CALLED, word.toLowerCase()) ?? word;
}

/** The reply shows the screen, except in a terminal, whose output streams anyway. */
async function pressAsked(order: CommandCall, keys: readonly string[], context: CommandContext): Promise<CommandReply> {
  const shown = await press(order, keys, context);
  const isTerminal = order.thread !== undefined && context.streams.of(order.thread.id)?.kind === 'terminal';
  return isTerminal && !shown.content.startsWith('⚠️') ? replyWith(`⌨️ ${keys.join(' ')}`) : shown;
}

/** One at a time: the pane would drop the keys of a command that was overtaken by a newer one. */
async function press(order: CommandCall, keys: readonly string[], context: CommandContext): Promise<CommandReply> {
  const { pane, pressed } = await context.pressing(order.thread?.id ?? '', async () => {
    const pane = await paneToShow(order.thread, context);
    const guard = await guardOf(pane, order, checkedKeys(keys), context);
    return { pane, pressed: 'kind' in guard ? guard : await strike(pane, order, keys, guard, context) };
  });
  return shownAfter(pane, pressed, context);
}

/** They approve nothing, and an agent can be interrupted at any time. */
const LEAVING: readonly string[] = ['Escape', 'C-c'];
/** Any other key may answer a dialog or open one, and a key after it would be for the next one, which nobody has seen. */
const MOVING: readonly string[] = ['Up', 'Down', 'Left', 'Right', 'Tab', 'BTab', 'Space'];

/** `print`: the screen that the keys are for, if a program that is slow to take them could show something else next. */
type KeyGuard = PaneGuard & { readonly print: string | undefined };

/** What tmux checks at the moment of written keys, or why they are not pressed: they could answer a dialog that was not shown before. */
async function guardOf(
  { tmux, record }: FoundPane,
  { id, thread, liveAt }: CommandCall,
  keys: readonly string[],
  { shownScreens, lastKeys, pendingKeys }: CommandContext,
): Promise<KeyGuard | Refused> {
  const guard = { pane: record, command: undefined, print: undefined };
  const isLeaving = keys.every((key) => LEAVING.includes(key));
  const look = () =>
    lookAtPane(tmux, record).catch((error: unknown) => (isLeaving ? undefined : Promise.reject(error)));
  const seen = isFresh(liveAt, performance.now()) ? await look() : undefined;
  if (seen === undefined || seen.kind === 'gone') return guard;
  const { driver, isAgent } = readPane(seen, record);
  const shows = dialogPatterns(seen, driver.screen);
  const now = screenFingerprint(record.paneId, seen, driver.screen);
  const print = shows.length > 0 || (isAgent && !isLeaving) ? now : undefined;
  if (isLeaving) return { ...guard, print };
  const isPending = pendingKeys.isPending(thread?.id ?? '', now);
  const isForOne = keys.slice(0, -1).every((key) => MOVING.includes(key));
  const shown = shownScreens.get(thread?.id ?? '');
  if (shows.length === 0) {
    const opener = isAgent ? lastKeys.get(thread?.id ?? '')?.opener : undefined;
    const isSeen = shown !== undefined && isNewer(shown.message, opener ?? '0') && isNewer(id, shown.message);
    if (isAgent && !isForOne) return SEVERAL;
    if (opener !== undefined && !isSeen) return EARLY;
    return isPending ? NOT_TAKEN : { ...guard, print, ...stillNoDialog(seen, record) };
  }
  // Once: a busy program still shows a dialog that was answered.
  shownScreens.delete(thread?.id ?? '');
  const isSame = shown?.print === now && isNewer(id, shown.message);
  if (!isSame || !isForOne) return UNSEEN;
  return isPending ? NOT_TAKEN : { ...guard, print, shows };
}

/** A tapped button, the fingerprint of its screen, and its message. */
interface KeyButton {
  readonly key: string;
  readonly print: string | undefined;
  readonly messageId: string;
}

/** The last screen of each thread under which a button was pressed, and the tap. */
export type UsedScreens = Map<
  string,
  { readonly print: string | undefined; readonly tap: string; readonly isDialog: boolean }
>;

/**
 * Presses a button's key only if the pane still shows the same screen, and only once: a busy program still shows an
 * answered dialog, and a second key would answer the next one. Undefined if the button was already used.
 */
export async function pressUnder(
  order: CommandCall,
  { key, print, messageId }: KeyButton,
  used: UsedScreens,
  context: CommandContext,
): Promise<CommandReply | undefined> {
  const thread = order.thread?.id ?? '';
  const done = await context.pressing(thread, async () => {
    const last = used.get(thread);
    if (last?.print === print && isNewer(last?.tap ?? '0', messageId)) return undefined;
    const pane = await paneToShow(order.thread, context);
    const { tmux, record } = pane;
    const keys = context.lastKeys.get(thread);
    if (keys?.written !== undefined && isNewer(keys.written, messageId) && !LEAVING.includes(key)) {
      context.lastKeys.set(thread, { ...keys, written: undefined });
      return { pane, pressed: CHANGED };
    }
    const seen = await lookAtPane(tmux, record);
    const { isAgent, driver } = readPane(seen, record);
    const { screen } = driver;
    if (seen.kind === 'gone' || screenFingerprint(record.paneId, seen, screen) !== print)
      return { pane, pressed: CHANGED };
    if (context.pendingKeys.isPending(thread, print) && !LEAVING.includes(key)) return { pane, pressed: NOT_TAKEN };
    // tmux checks this again, because a dialog may appear or change after the look.
    const shows = dialogPatterns(seen, screen);
    const still = shows.length === 0 ? stillNoDialog(seen, record) : { shows };
    used.set(thread, { print, tap: order.id, isDialog: shows.length > 0 });
    const isFor = shows.length > 0 || (isAgent && !LEAVING.includes(key)) ? print : undefined;
    const guard = { pane: record, command: undefined, print: isFor, ...still };
    const pressed = await strike(pane, order, [key], guard, context, true);
    if (pressed === undefined || pressed.kind === 'refused') used.delete(thread);
    return { pane, pressed };
  });
  return done && shownAfter(done.pane, done.pressed, context);
}

async function strike(
  { tmux }: FoundPane,
  order: CommandCall,
  keys: readonly string[],
  { print, ...guard }: KeyGuard,
  { lastKeys, pendingKeys }: CommandContext,
  isTap = false,
): Promise<Press | undefined> {
  // Checked here, because the command may have waited for tmux or other keys while the screen changed.
  if (!isFresh(order.liveAt, performance.now())) return undefined;
  const pressed = await pressKeys(tmux, guard, order.id, keys);
  const thread = order.thread?.id ?? '';
  if (print !== undefined && !keys.every((key) => MOVING.includes(key))) pendingKeys.pressed(thread, print);
  const isHarmless = keys.every((key) => MOVING.includes(key) || LEAVING.includes(key));
  const { opener, written } = lastKeys.get(thread) ?? { opener: undefined, written: undefined };
  const at = performance.now();
  const isWritten = !isHarmless && !isTap;
  lastKeys.set(thread, { at, opener: isHarmless ? opener : order.id, written: isWritten ? order.id : written });
  return pressed;
}

/** After Escape, an agent may put the interrupted prompt back into its box: a text that is typed meanwhile would join it. */
const KEYS_SETTLE_MS = 1_000;

export async function untilKeysSettled(thread: string, { lastKeys, signal }: CommandContext): Promise<void> {
  const left = (lastKeys.get(thread)?.at ?? Number.NEGATIVE_INFINITY) + KEYS_SETTLE_MS - performance.now();
  if (left > 0) await sleep(left, undefined, { signal });
}

async function shownAfter(
  pane: FoundPane,
  pressed: Press | Refused | undefined,
  context: CommandContext,
): Promise<CommandReply> {
  if (pressed === undefined)
    return replyWith(
      '⚠️ Not pressed: the command is too old, or came while threadmux was not running. Check the pane with `!screen` and press the key again.',
    );
  if (pressed.kind !== 'refused') {
    await sleep(SEEN_AFTER_MS);
    return showScreen(pane, context);
  }
  const words = ownValue(LOOK_FIRST, pressed.because);
  if (words === undefined) return replyWith(`⚠️ Not pressed: ${WHY[pressed.because] ?? pressed.because}.`);
  const shown = await showScreen(pane, context);
  return { ...shown, content: cutMessage(`⚠️ Not pressed: ${words}.\n${shown.content}`, 2_000) };
}

// !stop interrupts an agent, a terminal or a headless agent.

export const stopCommand: Command = {
  name: 'stop',
  usage: '!stop',
  about: 'interrupt the agent, a terminal (Ctrl-C) or a headless agent',
  async run(order, context) {
    const stream = streamOf(order, context);
    if (stream?.kind === 'terminal') return pressAsked(order, ['C-c'], context);
    if (stream === undefined) {
      const record = order.thread && context.threads.registry.get(order.thread.id);
      return pressAsked(order, driverOf(record?.agent ?? '').typing.interrupt, context);
    }
    return replyWith((await stream.agent.stop()) ? 'Stopping it.' : 'Nothing runs.');
  },
};
