// Messages: send, read, list, search, edit, pin, delete, and the typing indicator.

import * as z from 'zod';
import {
  MISSING_ACCESS,
  MISSING_PERMISSIONS,
  NOT_THE_AUTHOR,
  SYSTEM_MESSAGE,
  UNKNOWN_GUILD,
  UNKNOWN_MESSAGE,
} from '../../discord/error-codes.ts';
import { readForm, snowflake, text } from '../check-form.ts';
import {
  composeMessage,
  edited,
  postMessage,
  removeMessage,
  replaceMessage,
  requireAwake,
  requireThread,
  requireUnlocked,
  wakeFor,
} from '../posting.ts';
import { type RefusalAnswer, refuse } from '../request-body.ts';
import { createMessageSchema, editMessageSchema, messagePageSchema } from '../request-schemas.ts';
import type { RestRoute, RouteCall } from '../rest-server.ts';
import { compareSnowflakes, isSnowflake, pageOf } from '../storage/message-log.ts';
import { findMessage, madeWithNonce, nonceKey, type StoredMessage } from '../storage/store.ts';
import { idOf, wireMember } from '../wire/guild.ts';
import { wireMessage } from '../wire/message.ts';
import { INTENT_BITS } from '../workspace-context.ts';

const MESSAGES = '/channels/:channel/messages';
const MESSAGE = '/channels/:channel/messages/:message';
const PIN = '/channels/:channel/messages/pins/:message';

export const messageRoutes: readonly RestRoute[] = [
  { method: 'GET', path: MESSAGES, who: 'both', run: listMessages },
  { method: 'POST', path: MESSAGES, who: 'both', run: createMessage },
  { method: 'GET', path: MESSAGE, who: 'both', run: getMessage },
  { method: 'PATCH', path: MESSAGE, who: 'both', run: editMessage },
  { method: 'DELETE', path: MESSAGE, who: 'both', run: deleteMessage },
  { method: 'PUT', path: PIN, who: 'bot', run: (call) => pin(call, true) },
  { method: 'DELETE', path: PIN, who: 'bot', run: (call) => pin(call, false) },
  { method: 'POST', path: '/channels/:channel/typing', who: 'both', run: showTyping },
  { method: 'GET', path: '/guilds/:guild/messages/search', who: 'both', run: search },
];

function listMessages({ context, viewer, query, param }: RouteCall): RefusalAnswer {
  requireThread(context, param('channel'));
  const log = context.state.messages.get(param('channel')) ?? [];
  const page = pageOf(log, readForm(messagePageSchema, query));
  return { status: 200, body: page.map((message) => wireMessage(context, message, viewer)) };
}

function createMessage({ context, viewer, body, uploads, param }: RouteCall): RefusalAnswer {
  const channelId = param('channel');
  const author = idOf(context.identity, viewer.actor);
  requireThread(context, channelId);
  const form = readForm(createMessageSchema, body);
  const answer = (message: StoredMessage): RefusalAnswer => ({
    status: 200,
    body: { ...wireMessage(context, message, viewer), ...(message.nonce !== undefined && { nonce: message.nonce }) },
  });
  if (form.enforce_nonce === true && form.nonce != null) {
    const since = Date.now() - context.nonceWindowMs;
    const made = madeWithNonce(context.state, nonceKey(author, form.nonce), since);
    if (made) return answer(findMessage(context.state, made.channel, made.id) ?? refuse(UNKNOWN_MESSAGE));
  }
  requireUnlocked(context, channelId);
  const message = composeMessage(context, { channelId, author, form, uploads });
  wakeFor(context, channelId, author);
  postMessage(context, message);
  return answer(message);
}

function getMessage(call: RouteCall): RefusalAnswer {
  return { status: 200, body: wireMessage(call.context, messageOf(call), call.viewer) };
}

function editMessage(call: RouteCall): RefusalAnswer {
  const { context, viewer, body, uploads } = call;
  const message = messageOf(call);
  requireAwake(context, message.channel_id);
  const form = readForm(editMessageSchema, body);
  if (message.author !== idOf(context.identity, viewer.actor)) refuse(NOT_THE_AUTHOR);
  if (isSystem(message)) refuse(SYSTEM_MESSAGE);
  const next = edited(context, message, form, uploads);
  replaceMessage(context, next);
  return { status: 200, body: wireMessage(context, next, viewer) };
}

function deleteMessage(call: RouteCall): RefusalAnswer {
  const { context, viewer } = call;
  const message = messageOf(call);
  // The user owns the workspace and may delete anything; the bot may only delete its own messages.
  if (viewer.actor === 'bot' && message.author !== context.identity.botId) refuse(MISSING_PERMISSIONS);
  removeMessage(context, message);
  return { status: 204 };
}

function pin(call: RouteCall, pinned: boolean): RefusalAnswer {
  const message = messageOf(call);
  requireAwake(call.context, message.channel_id);
  replaceMessage(call.context, { ...message, pinned });
  return { status: 204 };
}

function showTyping({ context, viewer, param }: RouteCall): RefusalAnswer {
  const channelId = param('channel');
  requireAwake(context, channelId);
  const user = idOf(context.identity, viewer.actor);
  context.publish({
    type: 'TYPING_START',
    intent: INTENT_BITS.typing,
    dataFor: () => ({
      channel_id: channelId,
      guild_id: context.identity.guildId,
      user_id: user,
      timestamp: Math.floor(Date.now() / 1000),
      member: wireMember(context.identity, user),
    }),
  });
  return { status: 204 };
}

/** The message in the path, in a channel that exists. */
export function messageOf({ context, param }: RouteCall): StoredMessage {
  requireThread(context, param('channel'));
  const id = param('message');
  return (isSnowflake(id) && findMessage(context.state, param('channel'), id)) || refuse(UNKNOWN_MESSAGE);
}

function isSystem(message: StoredMessage): boolean {
  return ![0, 19, 20].includes(message.type);
}

const searchSchema = z.object({
  content: text(1, 1024),
  channel_id: snowflake.optional(),
  limit: z.coerce.number().int().min(1).max(25).default(25),
  offset: z.coerce.number().int().min(0).max(9975).default(0),
});

/** The newest messages that contain all the words, in one place or everywhere. */
function search({ context, viewer, query, param }: RouteCall): RefusalAnswer {
  if (param('guild') !== context.identity.guildId) refuse(UNKNOWN_GUILD);
  // The bot only finds what it may read.
  if (!viewer.seesContent && viewer.actor === 'bot') refuse(MISSING_ACCESS);
  const { content, channel_id: channel, limit, offset } = readForm(searchSchema, query);
  const words = content.toLowerCase().split(/\s+/).filter(Boolean);
  const logs =
    channel === undefined ? [...context.state.messages.values()] : [context.state.messages.get(channel) ?? []];
  const found = logs
    .flatMap((log) =>
      log.filter((message) => {
        const said = message.content.toLowerCase();
        return words.every((word) => said.includes(word));
      }),
    )
    .sort((a, b) => compareSnowflakes(b.id, a.id));
  return {
    status: 200,
    body: {
      doing_deep_historical_index: false,
      total_results: found.length,
      messages: found.slice(offset, offset + limit).map((message) => [wireMessage(context, message, viewer)]),
    },
  };
}
