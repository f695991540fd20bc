// What the bridge itself says in a thread. Every saying has a nonce made from what it is about, so
// that a crash in between does not make it say a thing twice.

import { insideFence } from '../core/neutralise.ts';
import { stableNonce } from '../core/nonce.ts';
import { createMessage, type Draft } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';

/** Resolves with the id of the message; undefined if somebody has deleted it. */
export type Say = (
  channelId: string,
  about: readonly (string | number)[],
  draft: Draft,
) => Promise<string | undefined>;

export function createSay(rest: Rest): Say {
  return (channelId, about, draft) => sayIn(rest, channelId, about, draft);
}

export async function sayIn(
  rest: Rest,
  channelId: string,
  about: readonly (string | number)[],
  draft: Draft,
): Promise<string | undefined> {
  const nonce = stableNonce('bridge', channelId, ...about);
  const message = await unarchiveAndRetry(rest, channelId, () =>
    createMessage(rest, channelId, nonce, draft),
  );
  return message?.id;
}

const SCREEN_ROOM = 1_500;

/** What the pane shows, as a block: its last lines, as many as fit. */
export function screenBlock(text: string): string {
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());
  const shown = lines.slice(-40).join('\n');
  return (
    insideFence(shown.length <= SCREEN_ROOM ? shown : shown.slice(-SCREEN_ROOM)) || '(nothing)'
  );
}
