// !stop, !key and its short forms, and the buttons with keys. Only keys from a list can be pressed, so no text can be typed with them.
// decide-keys.ts says which of them, and when.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
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
  return shownAfter(pane, result, context);
}

/** Undefined if the button was already used. */
export async function pressUnder(
  order: CommandCall,
  { key, ...button }: KeyButton & { readonly key: string },
  context: CommandContext,
): Promise<CommandReply | undefined> {
  const { pane, result } = await pressInTurn(order, [key], button, context);
  return result === 'used' ? undefined : shownAfter(pane, result, context);
}

/** One at a time: the pane would drop the keys of a command that was overtaken by a newer one. */
function pressInTurn(
  order: CommandCall,
  keys: readonly string[],
  button: KeyButton | undefined,
  context: CommandContext,
) {
  return context.pressing(order.thread?.id ?? '', async () => {
    const pane = await paneToShow(order.thread, context);
    const asked = { keys: checkedKeys(keys), id: order.id, button };
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
          isPending: shownScreens.isPending(thread, now.print),
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
  const { isAgent, driver } = readForKeys(seen, record);
  const shows = dialogPatterns(seen, driver.screen);
  return {
    print: screenFingerprint(record.paneId, seen, driver.screen),
    isAgent,
    hasDialog: shows.length > 0,
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
  'the screen has changed, or was not shown here before. Check it here, then use the buttons or write the key again';
/** With the screen below them. */
const LOOK_FIRST: Readonly<Record<string, string>> = {
  unseen: UNSEEN,
  dialog: UNSEEN,
  changing: UNSEEN,
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

async function shownAfter(pane: FoundPane, result: KeyResult, context: CommandContext): Promise<CommandReply> {
  if (result === 'pressed') {
    await sleep(SEEN_AFTER_MS);
    return showScreen(pane, context);
  }
  const words = ownValue(LOOK_FIRST, result);
  if (words === undefined) return replyWith(`⚠️ Not pressed: ${ownValue(WHY, result) ?? result}.`);
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
