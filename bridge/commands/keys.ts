// !screen, !stop, !key and its short forms. Only keys from a list can be pressed, so no text can be typed with them.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import { dialogPatterns, screenFingerprint } from '../../agents/screen-fingerprint.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { narrowText } from '../../core/narrow-text.ts';
import { ownValue } from '../../core/own-value.ts';
import { isNewer } from '../../core/snowflake.ts';
import { cutMessage, untrustedCode } from '../../core/untrusted-text.ts';
import { button, keyButtons, type MessageDraft, row } from '../../discord/messages.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import { renderPicture } from '../../streams/picture/picture.ts';
import { screenBlock } from '../../threads/notices.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readPane } from '../../threads/read-pane.ts';
import { type Press, pressKeys } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { PaneGuard } from '../../tmux/pane.ts';
import { isFresh } from '../inbox.ts';
import { stillNoDialog } from '../seen-screen.ts';
import { type Command, type CommandCall, type CommandContext, replyWith } from './command.ts';
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

export const screenCommand: Command = {
  name: 'screen',
  usage: '!screen [image]',
  about: 'what the pane shows now, as text or as a picture',
  run: async (order, tools) =>
    showScreen(await paneOf(order.thread, tools), /^(?:image|picture)$/i.test(order.rest.trim())),
};

export const keyCommand: Command = {
  name: 'key',
  usage: '!key <key…>',
  about: 'press keys, such as `!key Down Enter` (short: !esc !c !d !enter !tab !up !down)',
  run: (order, tools) => pressAsked(order, order.rest.split(/\s+/).filter(Boolean).map(named), tools),
};

export const shortKeyCommands: readonly Command[] = ['esc', 'c', 'd', 'enter', 'tab', 'up', 'down'].map((name) => ({
  name,
  usage: `!${name}`,
  about: `press ${named(name)}`,
  run: (order, tools) => pressAsked(order, [named(name)], tools),
}));

function named(word: string): string {
  return ownValue(CALLED, word.toLowerCase()) ?? word;
}

/** The reply shows the screen, except in a terminal, whose output streams anyway. */
async function pressAsked(order: CommandCall, keys: readonly string[], tools: CommandContext): Promise<MessageDraft> {
  const shown = await press(order, keys, tools);
  const isTerminal = order.thread !== undefined && tools.streams.of(order.thread.id)?.kind === 'terminal';
  return isTerminal && !shown.content.startsWith('⚠️') ? replyWith(`⌨️ ${keys.join(' ')}`) : shown;
}

/** One at a time: the pane would drop the keys of a command that was overtaken by a newer one. */
async function press(order: CommandCall, keys: readonly string[], tools: CommandContext): Promise<MessageDraft> {
  const { pane, pressed } = await tools.pressing(order.thread?.id ?? '', async () => {
    const pane = await paneOf(order.thread, tools);
    const guard = { pane: pane.record, command: undefined };
    return { pane, pressed: await strike(pane, order, keys, guard, tools) };
  });
  return shownAfter(pane, pressed);
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
  tools: CommandContext,
): Promise<MessageDraft | undefined> {
  const thread = order.thread?.id ?? '';
  const done = await tools.pressing(thread, async () => {
    const last = used.get(thread);
    if (last?.print === print && isNewer(last?.tap ?? '0', messageId)) return undefined;
    const pane = await paneOf(order.thread, tools);
    const { tmux, record } = pane;
    const seen = await lookAtPane(tmux, record);
    const { screen } = readPane(seen, record).driver;
    if (seen.kind === 'gone' || screenFingerprint(record.paneId, seen, screen) !== print)
      return { pane, pressed: CHANGED };
    // tmux checks this again, because a dialog may appear or change after the look.
    const shows = dialogPatterns(seen, screen);
    const still = shows.length === 0 ? stillNoDialog(seen, record) : { shows };
    used.set(thread, { print, tap: order.id, isDialog: shows.length > 0 });
    const pressed = await strike(pane, order, [key], { pane: record, command: undefined, ...still }, tools);
    if (pressed === undefined || pressed.kind === 'refused') used.delete(thread);
    return { pane, pressed };
  });
  return done && shownAfter(done.pane, done.pressed);
}

const CHANGED: Press = { kind: 'refused', because: 'changing', seen: undefined };

async function strike(
  { tmux }: FoundPane,
  order: CommandCall,
  keys: readonly string[],
  guard: PaneGuard,
  { keyTimes }: CommandContext,
): Promise<Press | undefined> {
  // Checked here, because the command may have waited for tmux or other keys while the screen changed.
  if (!isFresh(order.liveAt, performance.now())) return undefined;
  const pressed = await pressKeys(tmux, guard, order.id, keys);
  keyTimes.set(order.thread?.id ?? '', performance.now());
  return pressed;
}

/** After Escape, an agent may put the interrupted prompt back into its box: a text that is typed meanwhile would join it. */
const KEYS_SETTLE_MS = 1_000;

export async function untilKeysSettled(thread: string, { keyTimes, signal }: CommandContext): Promise<void> {
  const left = (keyTimes.get(thread) ?? Number.NEGATIVE_INFINITY) + KEYS_SETTLE_MS - performance.now();
  if (left > 0) await sleep(left, undefined, { signal });
}

async function shownAfter(pane: FoundPane, pressed: Press | undefined): Promise<MessageDraft> {
  if (pressed === undefined)
    return replyWith(
      '⚠️ Not pressed: the command is too old, or came while threadmux was not running. Check the pane with `!screen` and press the key again.',
    );
  if (pressed.kind === 'refused') {
    if (pressed.because === 'dialog' || pressed.because === 'changing') return changed(pane);
    return replyWith(`⚠️ Not pressed: ${WHY[pressed.because] ?? pressed.because}.`);
  }
  await sleep(SEEN_AFTER_MS);
  return showScreen(pane);
}

async function changed(pane: FoundPane): Promise<MessageDraft> {
  const shown = await showScreen(pane);
  const words = '⚠️ Not pressed: the screen has changed. Use the buttons under this new screen.';
  return { ...shown, content: cutMessage(`${words}\n${shown.content}`, 2_000) };
}

const WHY: Readonly<Record<string, string>> = {
  gone: 'the pane is gone',
  dead: 'the program in the pane has ended',
  'other-server': 'tmux was restarted',
  'other-process': 'another program runs in that pane now',
  'input-off': 'the pane takes no input',
  synchronized: 'the pane shares its input with others',
};

/** As text, or as a picture if it is wanted and possible. It replaces the previous picture. */
export async function showScreen({ tmux, record }: FoundPane, asPicture = false): Promise<MessageDraft> {
  const seen = await lookAtPane(tmux, record, { wholeRows: true });
  if (seen.kind === 'gone') return replyWith('The pane is gone, because its session was closed.');
  const cursor = seen.cursorShown ? seen.cursor : undefined;
  const picture = asPicture ? await renderPicture(seen.ansi, seen, cursor) : undefined;
  const keys = keyButtons(screenFingerprint(record.paneId, seen, readPane(seen, record).driver.screen));
  if (picture === undefined) {
    const more = asPicture ? [] : [row(button('As a picture', 'key:picture'))];
    return { content: screenBlock(narrowText(seen.text)), components: [keys, ...more], files: [] };
  }
  const file = { name: 'screen.png', data: picture, description: inWords(seen.text) };
  return { content: `What ${untrustedCode(seen.sessionName)} shows:`, components: [keys], files: [file] };
}

const DESCRIPTION = 1_000;

/** The alternative text of the picture: the last lines that fit. */
function inWords(screen: string): string {
  const text = screen
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
  const fitting = [...text].slice(-DESCRIPTION).join('');
  const cut = fitting.length < text.length ? fitting.slice(fitting.indexOf('\n') + 1) : fitting;
  return cut || 'An empty screen.';
}

async function paneOf(thread: ThreadRef | undefined, tools: CommandContext): Promise<FoundPane> {
  if (thread === undefined)
    throw new ThreadmuxError('bad_usage', 'Use this in a session’s thread.', {
      hint: '`!sessions` lists the sessions and their threads.',
    });
  const pane = await tools.panes.find(thread, true);
  if (pane === undefined)
    throw new ThreadmuxError('session_not_found', 'The session of this thread was not found.', {
      hint: '`!new` with its name starts it again.',
    });
  return pane;
}

// !stop interrupts an agent, a terminal or a headless agent.

export const stopCommand: Command = {
  name: 'stop',
  usage: '!stop',
  about: 'interrupt the agent, a terminal (Ctrl-C) or a headless agent',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (stream?.kind === 'terminal') return pressAsked(order, ['C-c'], tools);
    if (stream === undefined) {
      const record = order.thread && tools.threads.registry.get(order.thread.id);
      return pressAsked(order, driverOf(record?.agent ?? '').typing.interrupt, tools);
    }
    return replyWith((await stream.agent.stop()) ? 'Stopping it.' : 'Nothing runs.');
  },
};
