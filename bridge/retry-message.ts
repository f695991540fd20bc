// Types a failed message again, by its Retry button or by !retry. Only messages that are marked as failed, so that two
// taps do not type it twice, and only those of users and those that the bot posted for one.

import * as z from 'zod';
import { ThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { isDiscordId } from '../core/snowflake.ts';
import { type DiscordMessage, messageSchema } from '../discord/payloads.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AcceptedMessage } from './inbox.ts';
import { acceptedOf, incomingOf } from './listen.ts';
import type { OwnMessages } from './own-messages.ts';
import { refusalReason, route } from './route.ts';
import { REACTIONS } from './status-reactions.ts';

export type Retry = (
  messageId: string,
  order: { readonly id: string; readonly liveAt: number | undefined },
  thread: ThreadRef,
) => Promise<string>;

interface RetryOptions extends ServerParts {
  readonly own: OwnMessages;
  readonly send: (message: AcceptedMessage, thread: ThreadRef) => Promise<void>;
}

const markedSchema = messageSchema.extend({
  reactions: z.array(z.object({ me: z.boolean(), emoji: z.object({ name: z.string().nullish() }) })).default([]),
});
type Marked = z.output<typeof markedSchema>;

const LOOKED_THROUGH = 100;

export function createRetry({ rest, server, inbox, own, reactions, send }: RetryOptions): Retry {
  /** One at a time per thread: each sees what the one before has changed. */
  const inTurn = createKeyedQueue();
  /** Until their ⚠️ is replaced. */
  const again = new Set<string>();

  function isTyped(message: Marked): boolean {
    const known = own.find(message.id);
    if (known === undefined) return route(incomingOf(message), 'thread', server).kind === 'forward';
    return refusalReason({ userId: known.authorId }, server) === undefined;
  }

  async function find(messageId: string, thread: ThreadRef): Promise<DiscordMessage | undefined> {
    const before = new Set(again);
    const isOpen = (message: Marked) => isFailed(message) && !before.has(message.id) && isTyped(message);
    const path = `/channels/${thread.id}/messages`;
    if (messageId === '') {
      const raw = await rest.call('GET', `${path}?limit=${LOOKED_THROUGH}`);
      return markedSchema.array().parse(raw).find(isOpen); // newest first
    }
    if (!isDiscordId(messageId)) throw new ThreadmuxError('bad_usage', 'This is not a message id.');
    // The message that a user created the thread from stays in the channel.
    const place = messageId === thread.id ? `/channels/${thread.parentId}/messages` : path;
    const message = markedSchema.parse(await rest.call('GET', `${place}/${messageId}`));
    return isOpen(message) ? message : undefined;
  }

  /** The notice with the Retry button may be there before the ⚠️. */
  async function findMarked(messageId: string, thread: ThreadRef): Promise<DiscordMessage | undefined> {
    await reactions.settled(messageId === thread.id ? thread.parentId : thread.id);
    return find(messageId, thread);
  }

  /** The id of the Retry is newer than all typed messages, so the pane accepts it. */
  return (messageId, { id: orderId, liveAt }, thread) =>
    inTurn(thread.id, async () => {
      const message = (await find(messageId, thread)) ?? (await findMarked(messageId, thread));
      if (message === undefined)
        throw new ThreadmuxError('bad_usage', 'There is no failed message to type again.', {
          hint: 'Failed messages are marked with ⚠️.',
        });
      const isFirst = message.id === thread.id;
      const accepted: AcceptedMessage = {
        ...acceptedOf({ ...message, channel_id: isFirst ? thread.parentId : thread.id }),
        ...own.find(message.id),
        ...(isFirst ? { into: thread.id } : {}),
        deliveryId: orderId,
        notice: '', // that of the failed attempt, which is used again
        ...(liveAt === undefined ? {} : { liveAt }),
      };
      again.add(message.id);
      inbox.put(accepted);
      reactions.assume(message.id, ['failed']);
      void send(accepted, thread)
        .catch(() => {}) // `send` reports the outcome itself
        .then(() => reactions.settled(thread.id))
        .finally(() => again.delete(message.id));
      return '🔁 Typing it again.';
    });
}

function isFailed({ reactions }: Marked): boolean {
  return reactions.some(({ me, emoji }) => me && emoji.name === REACTIONS.failed);
}
