// Notices of the bridge in a thread. Each has a nonce made from its subject, so that it is not posted twice after a
// crash.

import { displayWidth } from '../core/markdown-tables.ts';
import { stableNonce } from '../core/snowflake.ts';
import { insideFence, neutralise, wordsInPlace } from '../core/untrusted-text.ts';
import { createMessage, type MessageDraft } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';

/** Resolves with the id of the message; undefined if it was deleted. */
export type Notices = (
  channelId: string,
  about: readonly (string | number)[],
  draft: MessageDraft,
) => Promise<string | undefined>;

export function createNotices(rest: Rest): Notices {
  return (channelId, about, draft) => postNotice(rest, channelId, about, draft);
}

export async function postNotice(
  rest: Rest,
  channelId: string,
  about: readonly (string | number)[],
  draft: MessageDraft,
): Promise<string | undefined> {
  const nonce = stableNonce('bridge', channelId, ...about);
  const message = await unarchiveAndRetry(rest, channelId, () => createMessage(rest, channelId, nonce, draft));
  return message?.id;
}

const SCREEN_ROOM = 1_500;
const SCREEN_LINES = 40;
/** More than fits into a message; the rest of a long output is not processed. */
const LOOKED_AT = 20_000;
const CUT = '-# Only the end is shown. What is above it does not fit here.';

/** The last lines of a pane that fit, as a code block. Users answer dialogs by it, so nothing in it may be hidden. */
export function screenBlock(text: string): string {
  // Claude Code draws its prompt with a no-break space, which hides nothing.
  const screen = text.trimEnd().replaceAll('\u00a0', ' ');
  const all = neutralise(screen.slice(-LOOKED_AT)).split('\n');
  const lines = all.slice(-SCREEN_LINES).map((line) => line.trimEnd());
  const block = () => insideFence(wordsInPlace(lines.join('\n')));
  let isCut = screen.length > LOOKED_AT || isText(all.slice(0, -SCREEN_LINES));
  while (block().length > SCREEN_ROOM) {
    const [first = '', ...others] = lines;
    const rest = others.length > 0 ? others : [first.slice(-Math.floor(first.length * 0.9))];
    isCut ||= others.length === 0 || isText([first]);
    lines.splice(0, lines.length, ...rest);
  }
  return isCut ? `${CUT}\n${block()}` : block();
}

/** All of a pane as the text of a file, if its block shows only a part. */
export function restOfScreen(text: string, block: string): string | undefined {
  return block.startsWith(CUT) ? wordsInPlace(neutralise(text.trimEnd())) : undefined;
}

const EXCERPT_LINES = 8;
const EXCERPT_COLUMNS = 60;
const FRAME = /^[\s─-╿▀-▟]*$/u;

/** The last lines of a pane, narrow enough for a phone, as a code block. It is cut, so no key may be offered under it. */
export function screenExcerpt(text: string): string {
  const lines = neutralise(text.trimEnd().slice(-LOOKED_AT).replaceAll('\u00a0', ' ')).split('\n');
  const last = lines.filter((line) => !FRAME.test(line)).slice(-EXCERPT_LINES);
  const margin = Math.min(...last.map((line) => line.length - line.trimStart().length));
  return insideFence(last.map((line) => cut(line.slice(margin).trimEnd())).join('\n'));
}

function cut(line: string): string {
  if (displayWidth(line) <= EXCERPT_COLUMNS) return line;
  const points = [...line].slice(0, EXCERPT_COLUMNS - 1);
  while (displayWidth(points.join('')) >= EXCERPT_COLUMNS) points.pop();
  return `${points.join('')}…`;
}

function isText(lines: readonly string[]): boolean {
  return lines.some((line) => line.trim() !== '');
}
