// !stop, !key and its short forms, and the buttons with keys. Only keys from a list can be pressed, so no text can be typed with them.
// decide-keys.ts says which of them, and when.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { isAtPrompt } from '../../agents/prompt-line.ts';
import { isCutDialog } from '../../agents/screen.ts';
import { dialogPatterns, screenFingerprint } from '../../agents/screen-fingerprint.ts';
import { ownValue } from '../../core/own-value.ts';
import { cutMessage } from '../../core/untrusted-text.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readForKeys, stillNoDialog } from '../../threads/read-pane.ts';
import { checkedKeys, pressKeys } from '../../tmux/keys.ts';
import { lookAtPane, type PaneLook } from '../../tmux/look.ts';
import type { PaneRefusal } from '../../tmux/pane.ts';
import {
  type AskedKeys,
  areLeaving,
  areMoving,
  decideKeys,
  type KeyButton,
  type KeyDecision,
  mayChangeScreen,
} from '../decide-keys.ts';
import { isFresh } from '../inbox.ts';
import { refusalReason } from '../route.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';
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
  const { pane, result } = await pressInTurn(order, keys, undefined, context);
  const isTerminal = order.thread !== undefined && context.streams.of(order.thread.id)?.kind === 'terminal';
  if (isTerminal && result === 'pressed') return replyWith(`⌨️ ${keys.join(' ')}`);
  return shownAfter(pane, result, askedBy(order, keys), context);
}

/** Undefined if the button was already used. */
export async function pressUnder(
  order: CommandCall,
  { key, ...button }: KeyButton & { readonly key: string },
  context: CommandContext,
): Promise<CommandReply | undefined> {
  const { pane, result } = await pressInTurn(order, [key], button, context);
  return result === 'used' ? undefined : shownAfter(pane, result, askedBy(order, [key]), context);
}

/** Who expects what the keys lead to: after arrows, it is the same list. */
const askedBy = ({ byId }: CommandCall, keys: readonly string[]) => (areMoving(keys) ? byId : undefined);

/** One at a time: the pane would drop the keys of a command that was overtaken by a newer one. */
function pressInTurn(
  order: CommandCall,
  keys: readonly string[],
  button: KeyButton | undefined,
  context: CommandContext,
) {
  return context.pressing(order.thread?.id ?? '', async () => {
    const pane = await paneToShow(order.thread, context);
    const { id, byId: by, repliedTo, liveAt: at = 0 } = order;
    const asked = { keys: checkedKeys(keys), id, at, by, repliedTo, button };
    return { pane, result: await press(pane, order, asked, context) };
  });
}

type KeyResult = 'pressed' | Exclude<KeyDecision, 'press'> | 'late' | PaneRefusal;

async function press(
  { tmux, record }: FoundPane,
  order: CommandCall,
  asked: AskedKeys,
  { shownScreens, server }: CommandContext,
): Promise<KeyResult> {
  const thread = order.thread?.id ?? '';
  // A command may have waited for tmux or for other keys, while the screen or the list of people changed.
  const isLate = () =>
    !isFresh(order.liveAt, performance.now()) || refusalReason({ userId: order.byId }, server) !== undefined;
  if (isLate()) return 'late';
  const mayBeBlind = asked.button === undefined && areLeaving(asked.keys);
  const seen = await lookAtPane(tmux, record).catch((error: unknown) =>
    mayBeBlind ? undefined : Promise.reject(error),
  );
  if (seen?.kind === 'gone') return 'gone';
  const now = seen && screenNow(record, seen);
  const decision =
    now === undefined
      ? 'press'
      : decideKeys({
          asked,
          now,
          shown: shownScreens.shown(thread),
          last: shownScreens.lastKeys(thread),
          isPending: shownScreens.isPending(thread, now.print, seen?.pressedAt),
        });
  if (decision !== 'press') return decision;
  if (isLate()) return 'late';
  const note = () => {
    const print = now !== undefined && mayChangeScreen(asked.keys, now) ? now.print : undefined;
    shownScreens.pressed(thread, { print, message: asked.button?.message });
  };
  const guard = { pane: record, command: undefined, ...(mayBeBlind ? {} : now?.guard) };
  const pressed = await pressKeys(tmux, guard, order.id, asked.keys).catch((error: unknown) => {
    note(); // it may have been pressed
    throw error;
  });
  if (pressed.kind === 'refused') return pressed.because;
  note();
  return 'pressed';
}

/** `guard`: what tmux checks at the moment of the key, because a dialog may appear or change after the look. */
function screenNow(record: FoundPane['record'], seen: PaneLook) {
  const { isAgent, driver, screen } = readForKeys(seen, record);
  const shows = !isAgent && isAtPrompt(seen) ? [] : dialogPatterns(seen, driver.screen);
  return {
    print: screenFingerprint(record.paneId, seen, driver.screen),
    isAgent,
    hasDialog: shows.length > 0,
    isCut: isCutDialog(screen),
    guard: shows.length > 0 ? { shows } : stillNoDialog(seen, record),
  };
}

/** After Escape, an agent may put the interrupted prompt back into its box: a text that is typed meanwhile would join it. */
const KEYS_SETTLE_MS = 1_000;

export async function untilKeysSettled(thread: string, { shownScreens, signal }: CommandContext): Promise<void> {
  const left = (shownScreens.lastKeys(thread)?.at ?? Number.NEGATIVE_INFINITY) + KEYS_SETTLE_MS - performance.now();
  if (left > 0) await sleep(left, undefined, { signal });
}

const UNSEEN =
  'the screen has changed, or was not shown here since threadmux was started. Check it here, then use the buttons or write the key again';
/** With the screen below them. */
const LOOK_FIRST: Readonly<Record<string, string>> = {
  unseen: UNSEEN,
  cut: 'only a part of this dialog is on the screen, and another one may look the same. Use the buttons of its own message, answer it in the terminal, or leave it with `!esc`',
  dialog: UNSEEN,
  changing: UNSEEN,
  sudden:
    'the thread shows this screen only since a moment ago, and the key may be meant for the one before. Check it here, then press it again',
  pending:
    'the program still shows the screen of the last key, and may have to take it yet. Try again when the screen has changed, or in 15 seconds',
};

const WHY: Readonly<Record<string, string>> = {
  gone: 'the pane is gone',
  dead: 'the program in the pane has ended',
  'other-server': 'tmux was restarted',
  'other-process': 'another program runs in that pane now',
  'input-off': 'the pane takes no input',
  synchronized: 'the pane shares its input with others',
  several:
    'only arrows may come before another key, because any other key may open a dialog that nobody has seen. Write one key, and the next one when you see what it did',
  late: 'the command is too old, or came while threadmux was not running. Check the pane with `!screen` and press the key again',
};

async function shownAfter(
  pane: FoundPane,
  result: KeyResult,
  askedBy: string | undefined,
  context: CommandContext,
): Promise<CommandReply> {
  if (result === 'pressed') {
    await sleep(SEEN_AFTER_MS);
    return showScreen(pane, context, { askedBy });
  }
  const words = ownValue(LOOK_FIRST, result);
  if (words === undefined) return replyWith(`⚠️ Not pressed: ${ownValue(WHY, result) ?? result}.`);
  const shown = await showScreen(pane, context);
  // Again below it: on a phone, a screen may have no room for its first line.
  const end = '\n⚠️ Not pressed.';
  return { ...shown, content: cutMessage(`⚠️ Not pressed: ${words}.\n${shown.content}`, 2_000 - end.length) + end };
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
