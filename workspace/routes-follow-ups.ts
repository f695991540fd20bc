// What may follow an answered interaction, for a quarter of an hour: further messages, and changes to the ones it made.

import { UNKNOWN_MESSAGE, UNKNOWN_WEBHOOK } from '../discord/error-codes.ts';
import { readForm } from './form.ts';
import { answerMessage, LOADING, refMessage, show } from './interaction-messages.ts';
import type { Interaction } from './interactions.ts';
import { editMessageSchema } from './limits.ts';
import { edited, remove, replace } from './posting.ts';
import { type Answer, refuse } from './refusal.ts';
import type { Call, Route } from './router.ts';
import type { StoredMessage } from './store.ts';

const WEBHOOK = '/webhooks/:application/:token';
const FOLLOW_UP = `${WEBHOOK}/messages/:message`;

export const followUpRoutes: readonly Route[] = [
  ['POST', WEBHOOK, followUp] as const,
  ['GET', FOLLOW_UP, getFollowUp] as const,
  ['PATCH', FOLLOW_UP, editFollowUp] as const,
  ['DELETE', FOLLOW_UP, deleteFollowUp] as const,
].map(([method, path, run]) => ({ method, path, who: 'anyone', run }));

function followUp(call: Call): Answer {
  const interaction = webhookOf(call);
  const loading = refMessage(call.world, interaction.original);
  // The first follow-up to a deferred answer takes its place, as on Discord.
  if (loading && (loading.flags & LOADING) !== 0)
    return { status: 200, body: show(call.world, fill(call, loading)) };
  return { status: 200, body: show(call.world, answerMessage(call, interaction, call.body, 0)) };
}

function getFollowUp(call: Call): Answer {
  return { status: 200, body: show(call.world, followUpOf(call)) };
}

function editFollowUp(call: Call): Answer {
  return { status: 200, body: show(call.world, fill(call, followUpOf(call))) };
}

function fill({ world, body, uploads }: Call, message: StoredMessage): StoredMessage {
  const settled = { ...message, flags: message.flags & ~LOADING };
  const next = edited(world, settled, readForm(editMessageSchema, withoutFlags(body)), uploads);
  replace(world, next);
  return next;
}

/** Whether a deferred answer is for one person only was settled when it was deferred. */
function withoutFlags(body: unknown): unknown {
  const { flags: _, ...rest } = (body ?? {}) as Record<string, unknown>;
  return rest;
}

function deleteFollowUp(call: Call): Answer {
  remove(call.world, followUpOf(call));
  return { status: 204 };
}

function followUpOf(call: Call): StoredMessage {
  const { world, param } = call;
  const interaction = webhookOf(call);
  if (param('message') === '@original')
    return refMessage(world, interaction.original) ?? refuse(UNKNOWN_MESSAGE);
  const ref = { channel: interaction.channelId, id: param('message') };
  const message = refMessage(world, ref) ?? refuse(UNKNOWN_MESSAGE);
  return message.interaction?.id === interaction.id ? message : refuse(UNKNOWN_MESSAGE);
}

/** Only what was answered has follow-ups, and only for a quarter of an hour. */
function webhookOf({ world, param }: Call): Interaction {
  const interaction = world.interactions.byToken(param('token')) ?? refuse(UNKNOWN_WEBHOOK);
  const ours = param('application') === world.identity.applicationId;
  return ours && interaction.answered !== undefined ? interaction : refuse(UNKNOWN_WEBHOOK);
}
