// Reactions: one list of users per emoji and message.

import { MISSING_PERMISSIONS, TOO_MANY_REACTIONS, UNKNOWN_EMOJI } from '../../discord/error-codes.ts';
import { readForm } from '../check-form.ts';
import { requireAwake } from '../posting.ts';
import { type RefusalAnswer, refuse } from '../request-body.ts';
import { reactionPageSchema } from '../request-schemas.ts';
import type { RestRoute, RouteCall } from '../rest-server.ts';
import { compareSnowflakes } from '../storage/message-log.ts';
import type { StoredMessage } from '../storage/store.ts';
import { idOf, wireMember, wireUser } from '../wire/guild.ts';
import { INTENT_BITS, type WorkspaceContext } from '../workspace-context.ts';
import { messageOf } from './messages.ts';

const MAX_KINDS = 20;
const REACTIONS = '/channels/:channel/messages/:message/reactions/:emoji';

export const reactionRoutes: readonly RestRoute[] = [
  { method: 'GET', path: REACTIONS, who: 'both', run: listReactions },
  { method: 'PUT', path: `${REACTIONS}/@me`, who: 'both', run: addReaction },
  { method: 'DELETE', path: `${REACTIONS}/@me`, who: 'both', run: (call) => dropReaction(call, self(call)) },
  { method: 'DELETE', path: `${REACTIONS}/:user`, who: 'both', run: dropOthersReaction },
];

function listReactions(call: RouteCall): RefusalAnswer {
  const page = readForm(reactionPageSchema, call.query);
  const name = emojiOf(call);
  const users = messageOf(call).reactions.find((reaction) => reaction.name === name)?.users ?? [];
  const after = [...users].sort(compareSnowflakes).filter((id) => compareSnowflakes(id, page.after ?? '0') > 0);
  return { status: 200, body: after.slice(0, page.limit).map((id) => wireUser(call.context.identity, id)) };
}

function addReaction(call: RouteCall): RefusalAnswer {
  const { context } = call;
  const message = messageOf(call);
  requireAwake(context, message.channel_id);
  const name = emojiOf(call);
  const user = self(call);
  const there = message.reactions.find((reaction) => reaction.name === name);
  if (there?.users.includes(user)) return { status: 204 };
  if (there === undefined && message.reactions.length >= MAX_KINDS) refuse(TOO_MANY_REACTIONS);
  const reactions = there
    ? message.reactions.map((each) => (each === there ? { name, users: [...each.users, user] } : each))
    : [...message.reactions, { name, users: [user] }];
  context.commit({ t: 'message', message: { ...message, reactions } });
  publishReaction(context, 'MESSAGE_REACTION_ADD', message, user, name);
  return { status: 204 };
}

function dropOthersReaction(call: RouteCall): RefusalAnswer {
  const user = call.param('user');
  // The bot may not remove reactions of others; the user owns the workspace.
  if (call.viewer.actor === 'bot' && user !== call.context.identity.botId) refuse(MISSING_PERMISSIONS);
  return dropReaction(call, user);
}

function dropReaction(call: RouteCall, user: string): RefusalAnswer {
  const { context } = call;
  const message = messageOf(call);
  requireAwake(context, message.channel_id);
  const name = emojiOf(call);
  const there = message.reactions.find((reaction) => reaction.name === name) ?? refuse(UNKNOWN_EMOJI);
  if (!there.users.includes(user)) return { status: 204 };
  const reactions = message.reactions
    .map((each) => (each === there ? { name, users: each.users.filter((id) => id !== user) } : each))
    .filter(({ users }) => users.length > 0);
  context.commit({ t: 'message', message: { ...message, reactions } });
  publishReaction(context, 'MESSAGE_REACTION_REMOVE', message, user, name);
  return { status: 204 };
}

function publishReaction(
  context: WorkspaceContext,
  type: string,
  message: StoredMessage,
  user: string,
  name: string,
): void {
  const added = type === 'MESSAGE_REACTION_ADD';
  context.publish({
    type,
    intent: INTENT_BITS.reactions,
    dataFor: () => ({
      user_id: user,
      channel_id: message.channel_id,
      message_id: message.id,
      guild_id: context.identity.guildId,
      emoji: { id: null, name },
      burst: false,
      type: 0,
      ...(added && { member: wireMember(context.identity, user), message_author_id: message.author }),
    }),
  });
}

const EMOJI = /^[\p{Extended_Pictographic}\p{Emoji_Component}]{1,16}$/u;
/** Digits and joiners are parts of emoji, but not emoji by themselves. */
const DRAWN = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u;

/** Only characters that are drawn as emoji: a word, or a wrongly encoded emoji, is unknown. */
function emojiOf({ param }: RouteCall): string {
  const name = param('emoji');
  return EMOJI.test(name) && DRAWN.test(name) ? name : refuse(UNKNOWN_EMOJI);
}

function self({ context, viewer }: RouteCall): string {
  return idOf(context.identity, viewer.actor);
}
