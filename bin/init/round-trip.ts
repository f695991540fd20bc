// The proof that it works: a thread is made, a message posted there, heard over the gateway, and the thread archived.

import { randomBytes } from 'node:crypto';
import { createMessage } from '../../discord/messages.ts';
import { connectRest } from '../../discord/rest.ts';
import { archiveThread, ensureThread, openThreadChannel } from '../../discord/threads.ts';
import type { CleanUp } from '../clean-up.ts';
import { openMessageListener } from './wait-for-message.ts';

export interface RoundTripTarget {
  readonly api: string;
  readonly token: string;
  readonly channel: string;
}

/** Not the name of any session: nothing that is written in it is ever typed. */
const TITLE = 'threadmux: set-up check';
const WELCOME = 'A check by `threadmux init`: this thread is archived again in a moment.';
const HEARING_MS = 30_000;

/** How long the message took to come back, in milliseconds. */
export async function makeRoundTrip(to: RoundTripTarget, undo: CleanUp): Promise<number> {
  const rest = connectRest({ token: to.token, api: to.api, patienceMs: 10_000 });
  undo.later(() => rest.close());
  const place = await openThreadChannel(rest, to.channel);
  const ears = await openMessageListener(rest, to.token);
  undo.later(async () => ears.close());
  const thread = await ensureThread(place, TITLE, WELCOME);
  let isOver = false;
  undo.later(async () => {
    if (!isOver) await archiveThread(rest, thread.id);
  });
  const asked = Date.now();
  const nonce = randomBytes(12).toString('base64url');
  const posted = await createMessage(rest, thread.id, nonce, {
    content: 'It works: this message went out and came back.',
    silent: true,
  });
  await ears.hear(({ id }) => id === posted?.id, HEARING_MS);
  const tookMs = Date.now() - asked;
  await archiveThread(rest, thread.id);
  isOver = true;
  return tookMs;
}
