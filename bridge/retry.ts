// Types a failed message again, by its Retry button or by !retry. Only messages that are marked as failed, so that two
// taps do not type it twice.

import * as z from 'zod';
import type { ServerConfig } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { isDiscordId } from '../core/snowflake.ts';
import { type DiscordMessage, messageSchema } from '../discord/payloads.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { AcceptedMessage, Inbox } from './inbox.ts';
import { acceptedOf, incomingOf } from './listen.ts';
import { route } from './route.ts';
import { REACTIONS, type StatusReactions } from './status-reactions.ts';

export type Retry = (
  messageId: string,
  order: { readonly id: string; readonly liveAt: number | undefined },
  thread: ThreadRef,
) => Promise<string>;

interface RetryOptions {
  readonly rest: Rest;
  readonly server: ServerConfig;
  readonly inbox: Inbox;
  readonly marks: StatusReactions;
  readonly send: (message: AcceptedMessage, thread: ThreadRef) => Promise<void>;
}

const markedSchema = messageSchema.extend({
  reactions: z.array(z.object({ me: z.boolean(), emoji: z.object({ name: z.string().nullish() }) })).default([]),
  /** Of a reply to a slash command: who gave it. */
  interaction_metadata: z.object({ user: z.object({ id: z.string(), username: z.string().default('') }) }).nullish(),
});
type Marked = z.output<typeof markedSchema>;

const LOOKED_THROUGH = 100;

export function createRetry({ rest, server, inbox, marks, send }: RetryOptions): Retry {
  /** One at a time per thread: each sees what the one before has changed. */
  const inTurn = createKeyedQueue();
  /** Until their ⚠️ is replaced. */
  const again = new Set<string>();

  async function find(messageId: string, thread: ThreadRef): Promise<DiscordMessage | undefined> {
    const before = new Set(again);
    const isOpen = (message: Marked) =>
      isFailed(message) && !before.has(message.id) && route(incomingOf(message), 'thread', server).kind === 'forward';
    const path = `/channels/${thread.id}/messages`;
    if (messageId === '') {
      const raw = await rest.call('GET', `${path}?limit=${LOOKED_THROUGH}`);
      return markedSchema.array().parse(raw).map(asWritten).find(isOpen); // newest first
    }
    if (!isDiscordId(messageId)) throw new ThreadmuxError('bad_usage', 'This is not a message id.');
    // The message that a user created the thread from stays in the channel.
    const own = messageId === thread.id ? `/channels/${thread.parentId}/messages` : path;
    const message = asWritten(markedSchema.parse(await rest.call('GET', `${own}/${messageId}`)));
    return isOpen(message) ? message : undefined;
  }

  /** The id of the Retry is newer than all typed messages, so the pane accepts it. */
  return (messageId, { id: orderId, liveAt }, thread) =>
    inTurn(thread.id, async () => {
      const message = await find(messageId, thread);
      if (message === undefined)
        throw new ThreadmuxError('bad_usage', 'There is no failed message to type again.', {
          hint: 'Failed messages are marked with ⚠️.',
        });
      const isFirst = message.id === thread.id;
      const accepted: AcceptedMessage = {
        ...acceptedOf({ ...message, channel_id: isFirst ? thread.parentId : thread.id }),
        ...(isFirst ? { into: thread.id } : {}),
        deliveryId: orderId,
        notice: '', // that of the failed attempt, which is used again
        ...(liveAt === undefined ? {} : { liveAt }),
      };
      again.add(message.id);
      inbox.put(accepted);
      marks.assume(message.id, ['failed']);
      void send(accepted, thread)
        .catch(() => {}) // `send` reports the outcome itself
        .then(() => marks.settled(thread.id))
        .finally(() => again.delete(message.id));
      return '🔁 Typing it again.';
    });
}

function isFailed({ reactions }: Marked): boolean {
  return reactions.some(({ me, emoji }) => me && emoji.name === REACTIONS.failed);
}

/** The bot posts the text of `/claude` as its reply, which counts as a message of the user. */
function asWritten({ interaction_metadata: given, ...message }: Marked): Marked {
  if (given == null || !message.content.startsWith('/')) return message;
  return { ...message, type: 0, webhook_id: undefined, author: { ...given.user, bot: false } };
}
