// !screen, and the screens that are shown after keys.

import type { AgentScreen } from '../../agents/screen.ts';
import { screenFingerprint } from '../../agents/screen-fingerprint.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { narrowText } from '../../core/narrow-text.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { button, keyButtons, row } from '../../discord/messages.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import { renderPicture } from '../../streams/picture/picture.ts';
import { restOfScreen, screenBlock } from '../../threads/notices.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readForKeys } from '../../threads/read-pane.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { type Command, type CommandContext, type CommandReply, replyWith } from './command.ts';

export const screenCommand: Command = {
  name: 'screen',
  usage: '!screen [image]',
  about: 'what the pane shows now, as text or as a picture',
  run: async (order, context) => {
    const asPicture = /^(?:image|picture)$/i.test(order.rest.trim());
    return showScreen(await paneToShow(order.thread, context), context, { asPicture, askedBy: order.byId });
  },
};

/** As text, or as a picture if it is wanted and possible. It replaces the previous picture. */
export async function showScreen(
  { tmux, record }: FoundPane,
  { shownScreens }: Pick<CommandContext, 'shownScreens'>,
  { asPicture = false, askedBy }: { readonly asPicture?: boolean; readonly askedBy?: string | undefined } = {},
): Promise<CommandReply> {
  const seen = await lookAtPane(tmux, record, { wholeRows: true });
  if (seen.kind === 'gone') return replyWith('The pane is gone, because its session was closed.');
  const cursor = seen.cursorShown ? seen.cursor : undefined;
  const picture = asPicture ? await renderPicture(seen.ansi, seen, cursor) : undefined;
  const { screen, driver } = readForKeys(seen, record);
  const print = screenFingerprint(record.paneId, seen, driver.screen);
  const keys = keyButtons(print);
  const after: CommandReply['after'] = async (thread, message, how = 'posted') => {
    if (message !== undefined) shownScreens.show(thread, { print, message, askedBy, how });
  };
  if (picture === undefined) {
    const more = asPicture ? [] : [row(button('As a picture', 'key:picture'))];
    const block = screenBlock(narrowText(seen.text));
    const whole = restOfScreen(seen.text, block);
    const content = [block, ...highlighted(screen)].join('\n');
    // A key answers what the user has seen, so nothing of it may be missing.
    const files = whole === undefined ? [] : [{ name: 'screen.txt', data: Buffer.from(whole) }];
    return { content, components: [keys, ...more], files, after };
  }
  const file = { name: 'screen.png', data: picture, description: inWords(seen.text) };
  return { content: `What ${untrustedCode(seen.sessionName)} shows:`, components: [keys], files: [file], after };
}

/** Where only colours show what Enter takes, the text says it. */
function highlighted(screen: AgentScreen): readonly string[] {
  if (screen.kind !== 'dialog' || screen.form === 'choice') return [];
  const labels = screen.options
    .filter(({ selected }) => selected)
    .slice(0, 3)
    .map(({ label }) => untrustedCode(label));
  return labels.length === 0 ? [] : [`-# Highlighted: ${labels.join(', ')}`];
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

export async function paneToShow(thread: ThreadRef | undefined, context: CommandContext): Promise<FoundPane> {
  if (thread === undefined)
    throw new ThreadmuxError('bad_usage', 'Use this in a session’s thread.', {
      hint: '`!sessions` lists the sessions and their threads.',
    });
  const pane = await context.panes.find(thread, true);
  if (pane === undefined)
    throw new ThreadmuxError('session_not_found', 'The session of this thread was not found.', {
      hint: '`!new` with its name starts it again.',
    });
  return pane;
}
