// How the bot answers an interaction: once within three seconds, then for 15 minutes with further messages and edits of its
// answers. The token in the path is the credential.

import * as z from 'zod';
import {
  ALREADY_ACKNOWLEDGED,
  UNKNOWN_INTERACTION,
  UNKNOWN_MESSAGE,
  UNKNOWN_WEBHOOK,
} from '../../discord/error-codes.ts';
import { readForm, text } from '../check-form.ts';
import {
  answerMessage,
  LOADING,
  refMessage,
  sendInteractionEvent,
  show,
  tellOutcome,
} from '../interaction-messages.ts';
import { ANSWER_WITHIN_MS, type OpenInteraction } from '../open-interactions.ts';
import { edited, removeMessage, replaceMessage } from '../posting.ts';
import { type RefusalAnswer, refuse, refuseField } from '../request-body.ts';
import { EPHEMERAL, editMessageSchema, interactionMessageSchema, modalSchema } from '../request-schemas.ts';
import type { RestRoute, RouteCall } from '../rest-server.ts';
import type { StoredMessage } from '../storage/store.ts';
import type { WorkspaceContext } from '../workspace-context.ts';

const WEBHOOK = '/webhooks/:application/:token';
const FOLLOW_UP = `${WEBHOOK}/messages/:message`;

export const callbackRoutes: readonly RestRoute[] = [
  ['POST', '/interactions/:interaction/:token/callback', answerInteraction] as const,
  ['POST', WEBHOOK, followUp] as const,
  ['GET', FOLLOW_UP, getFollowUp] as const,
  ['PATCH', FOLLOW_UP, editFollowUp] as const,
  ['DELETE', FOLLOW_UP, deleteFollowUp] as const,
].map(([method, path, run]) => ({ method, path, who: 'anyone', run }));

const choicesSchema = z.object({
  choices: z.array(z.object({ name: text(1, 100), value: z.union([text(0, 100), z.number()]) })).max(25),
});

/** Types 6 and 7 need a message to update, 8 is only for autocomplete, 9 cannot follow a modal. */
const ALLOWED: Record<OpenInteraction['type'], readonly number[]> = {
  2: [4, 5, 9],
  3: [4, 5, 6, 7, 9],
  4: [8],
  5: [4, 5, 6, 7],
};

function answerInteraction(call: RouteCall): RefusalAnswer {
  const { context, param, query } = call;
  const interaction = context.interactions.byId(param('interaction')) ?? refuse(UNKNOWN_INTERACTION);
  if (interaction.token !== param('token')) refuse(UNKNOWN_INTERACTION);
  if (interaction.answered !== undefined) refuse(ALREADY_ACKNOWLEDGED);
  if (Date.now() - interaction.startedAt > ANSWER_WITHIN_MS) refuse(UNKNOWN_INTERACTION);
  const { type } = readForm(z.object({ type: z.union([4, 5, 6, 7, 8, 9].map((each) => z.literal(each))) }), call.body);
  const needsSource = (type === 6 || type === 7) && interaction.source === undefined;
  if (!ALLOWED[interaction.type].includes(type) || needsSource)
    refuseField(['type'], 'INTERACTION_RESPONSE_TYPE_INVALID', 'This answer does not fit the interaction');
  const message = act(call, interaction, type);
  interaction.answered = type;
  tellOutcome(context, interaction, 'INTERACTION_SUCCESS');
  return query.with_response === 'true'
    ? { status: 200, body: described(context, interaction, type, message) }
    : { status: 204 };
}

function act(call: RouteCall, interaction: OpenInteraction, type: number): StoredMessage | undefined {
  const { context } = call;
  const data = dataOf(call.body);
  switch (type) {
    case 4: {
      const message = answerMessage(call, interaction, data, 0);
      interaction.original = { channel: message.channel_id, id: message.id };
      return message;
    }
    case 5: {
      const flags = readForm(interactionMessageSchema, data).flags ?? 0;
      const message = answerMessage(call, interaction, { content: '…' }, (flags & EPHEMERAL) | LOADING);
      interaction.original = { channel: message.channel_id, id: message.id };
      return message;
    }
    case 6:
    case 7: {
      interaction.original = interaction.source;
      const source = refMessage(context, interaction.source) ?? refuse(UNKNOWN_MESSAGE);
      if (type === 6) return source;
      const next = edited(context, source, readForm(editMessageSchema, data), call.uploads);
      replaceMessage(context, next);
      return next;
    }
    case 8:
      sendInteractionEvent(
        context,
        'APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE',
        interaction,
        readForm(choicesSchema, data),
      );
      return undefined;
    default:
      interaction.modal = readForm(modalSchema, data);
      sendInteractionEvent(context, 'INTERACTION_MODAL_CREATE', interaction, interaction.modal);
      return undefined;
  }
}

function dataOf(body: unknown): unknown {
  return (body as { data?: unknown } | undefined)?.data ?? {};
}

function described(
  context: WorkspaceContext,
  interaction: OpenInteraction,
  type: number,
  message: StoredMessage | undefined,
) {
  return {
    interaction: {
      id: interaction.id,
      type: interaction.type,
      ...(message && {
        response_message_id: message.id,
        response_message_loading: (message.flags & LOADING) !== 0,
        response_message_ephemeral: (message.flags & EPHEMERAL) !== 0,
      }),
    },
    // A deferred answer is described as the message it will become.
    ...(message && { resource: { type: type < 6 ? 4 : 7, message: show(context, message) } }),
  };
}

function followUp(call: RouteCall): RefusalAnswer {
  const interaction = webhookOf(call);
  const loading = refMessage(call.context, interaction.original);
  // The first follow-up to a deferred answer replaces it, as on Discord.
  if (loading && (loading.flags & LOADING) !== 0) return { status: 200, body: show(call.context, fill(call, loading)) };
  return { status: 200, body: show(call.context, answerMessage(call, interaction, call.body, 0)) };
}

function getFollowUp(call: RouteCall): RefusalAnswer {
  return { status: 200, body: show(call.context, followUpOf(call)) };
}

function editFollowUp(call: RouteCall): RefusalAnswer {
  return { status: 200, body: show(call.context, fill(call, followUpOf(call))) };
}

function fill({ context, body, uploads }: RouteCall, message: StoredMessage): StoredMessage {
  const settled = { ...message, flags: message.flags & ~LOADING };
  const next = edited(context, settled, readForm(editMessageSchema, withoutFlags(body)), uploads);
  replaceMessage(context, next);
  return next;
}

/** Deferring already decided whether the answer is visible to the user only. */
function withoutFlags(body: unknown): unknown {
  const { flags: _, ...rest } = (body ?? {}) as Record<string, unknown>;
  return rest;
}

function deleteFollowUp(call: RouteCall): RefusalAnswer {
  removeMessage(call.context, followUpOf(call));
  return { status: 204 };
}

function followUpOf(call: RouteCall): StoredMessage {
  const { context, param } = call;
  const interaction = webhookOf(call);
  if (param('message') === '@original') return refMessage(context, interaction.original) ?? refuse(UNKNOWN_MESSAGE);
  const ref = { channel: interaction.channelId, id: param('message') };
  const message = refMessage(context, ref) ?? refuse(UNKNOWN_MESSAGE);
  return message.interaction?.id === interaction.id ? message : refuse(UNKNOWN_MESSAGE);
}

/** Only an answered interaction has follow-ups, and only for 15 minutes. */
function webhookOf({ context, param }: RouteCall): OpenInteraction {
  const interaction = context.interactions.byToken(param('token')) ?? refuse(UNKNOWN_WEBHOOK);
  const ours = param('application') === context.identity.applicationId;
  return ours && interaction.answered !== undefined ? interaction : refuse(UNKNOWN_WEBHOOK);
}
