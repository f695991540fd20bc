// How the bot answers an interaction: once, within three seconds, then by follow-ups. The token in the path is the key.

import * as z from 'zod';
import { modalSchema } from './component-limits.ts';
import { readForm, text } from './form.ts';
import { ANSWER_WITHIN_MS, type Interaction } from './interactions.ts';
import { editMessageSchema, interactionMessageSchema } from './limits.ts';
import { compose, EPHEMERAL, edited, post, remove, replace, wakeFor } from './posting.ts';
import { type Answer, refuse, refuseField } from './refusal.ts';
import type { Call, Route } from './router.ts';
import { findMessage, type StoredMessage } from './store.ts';
import { wireMessage } from './wire-message.ts';
import type { World } from './world.ts';

const LOADING = 128;
const WEBHOOK = '/webhooks/:application/:token';
const FOLLOW_UP = `${WEBHOOK}/messages/:message`;

const callback = (method: string, path: string, run: Route['run']): Route => ({
  method,
  path,
  who: 'anyone',
  unlimited: true,
  run,
});

export const callbackRoutes: readonly Route[] = [
  callback('POST', '/interactions/:interaction/:token/callback', answerInteraction),
  callback('POST', WEBHOOK, followUp),
  callback('GET', FOLLOW_UP, (call) => ({ status: 200, body: show(call.world, followUpOf(call)) })),
  callback('PATCH', FOLLOW_UP, editFollowUp),
  callback('DELETE', FOLLOW_UP, deleteFollowUp),
];

const choicesSchema = z.object({
  choices: z
    .array(z.object({ name: text(1, 100), value: z.union([text(0, 100), z.number()]) }))
    .max(25),
});

/** Types 6 and 7 need a message to update, 8 belongs to autocomplete alone, 9 cannot follow a modal. */
const ALLOWED: Record<Interaction['type'], readonly number[]> = {
  2: [4, 5, 9],
  3: [4, 5, 6, 7, 9],
  4: [8],
  5: [4, 5, 6, 7],
};

function answerInteraction(call: Call): Answer {
  const { world, param, query } = call;
  const interaction = world.interactions.byId(param('interaction')) ?? refuse(10062);
  if (interaction.token !== param('token')) refuse(10062);
  if (interaction.answered !== undefined) refuse(40060);
  if (Date.now() - interaction.startedAt > ANSWER_WITHIN_MS) refuse(10062);
  const { type } = readForm(
    z.object({ type: z.union([4, 5, 6, 7, 8, 9].map((each) => z.literal(each))) }),
    call.body,
  );
  const needsSource = (type === 6 || type === 7) && interaction.source === undefined;
  if (!ALLOWED[interaction.type].includes(type) || needsSource)
    refuseField(
      ['type'],
      'INTERACTION_RESPONSE_TYPE_INVALID',
      'This answer does not fit the interaction',
    );
  const message = act(call, interaction, type);
  interaction.answered = type;
  tellOutcome(world, interaction, 'INTERACTION_SUCCESS');
  return query.with_response === 'true'
    ? { status: 200, body: described(world, interaction, type, message) }
    : { status: 204 };
}

function act(call: Call, interaction: Interaction, type: number): StoredMessage | undefined {
  const { world } = call;
  const data = dataOf(call.body);
  switch (type) {
    case 4: {
      const message = answerMessage(call, interaction, data, 0);
      interaction.original = { channel: message.channel_id, id: message.id };
      return message;
    }
    case 5: {
      const flags = readForm(interactionMessageSchema, data).flags ?? 0;
      const message = answerMessage(
        call,
        interaction,
        { content: '…' },
        (flags & EPHEMERAL) | LOADING,
      );
      interaction.original = { channel: message.channel_id, id: message.id };
      return message;
    }
    case 6:
    case 7: {
      interaction.original = interaction.source;
      const source = refMessage(world, interaction.source) ?? refuse(10008);
      if (type === 6) return source;
      const next = edited(world, source, readForm(editMessageSchema, data), call.uploads);
      replace(world, next);
      return next;
    }
    case 8:
      tell(
        world,
        'APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE',
        interaction,
        readForm(choicesSchema, data),
      );
      return undefined;
    default:
      interaction.modal = readForm(modalSchema, data);
      tell(world, 'INTERACTION_MODAL_CREATE', interaction, interaction.modal);
      return undefined;
  }
}

function dataOf(body: unknown): unknown {
  return (body as { data?: unknown } | undefined)?.data ?? {};
}

function answerMessage(
  call: Call,
  interaction: Interaction,
  data: unknown,
  flags: number,
): StoredMessage {
  const { world, uploads } = call;
  const form = readForm(interactionMessageSchema, data);
  const author = world.identity.botId;
  const message = compose(world, {
    channelId: interaction.channelId,
    author,
    // Unlike elsewhere, only people are pinged here when nothing is said about it.
    form: {
      ...form,
      allowed_mentions: form.allowed_mentions ?? { parse: ['users'] },
      flags: (form.flags ?? 0) | flags,
    },
    uploads,
    extra: {
      type: interaction.type === 2 && interaction.answered === undefined ? 20 : 0,
      ...((flags & LOADING) !== 0 && { content: '' }),
      interaction: {
        id: interaction.id,
        type: interaction.type,
        user: world.identity.userId,
        ...(interaction.name !== undefined && { name: interaction.name }),
      },
    },
  });
  if ((message.flags & EPHEMERAL) === 0) wakeFor(world, interaction.channelId, author);
  post(world, message);
  return message;
}

function described(
  world: World,
  interaction: Interaction,
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
    resource: { type, ...(message && { message: show(world, message) }) },
  };
}

function followUp(call: Call): Answer {
  const interaction = webhookOf(call);
  const loading = refMessage(call.world, interaction.original);
  // The first follow-up to a deferred answer takes its place, as on Discord.
  if (loading && (loading.flags & LOADING) !== 0)
    return { status: 200, body: show(call.world, fill(call, loading)) };
  return { status: 200, body: show(call.world, answerMessage(call, interaction, call.body, 0)) };
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
    return refMessage(world, interaction.original) ?? refuse(10008);
  const ref = { channel: interaction.channelId, id: param('message') };
  const message = refMessage(world, ref) ?? refuse(10008);
  return message.interaction?.id === interaction.id ? message : refuse(10008);
}

/** Only what was answered has follow-ups, and only for a quarter of an hour. */
function webhookOf({ world, param }: Call): Interaction {
  const interaction = world.interactions.byToken(param('token')) ?? refuse(10015);
  const ours = param('application') === world.identity.applicationId;
  return ours && interaction.answered !== undefined ? interaction : refuse(10015);
}

export function refMessage(world: World, ref: Interaction['source']): StoredMessage | undefined {
  if (ref === undefined) return undefined;
  return world.interactions.ephemeral.get(ref.id) ?? findMessage(world.state, ref.channel, ref.id);
}

function show(world: World, message: StoredMessage) {
  return wireMessage(world, message, { actor: 'bot', seesContent: true });
}

export function tellOutcome(
  world: World,
  interaction: Interaction,
  type: 'INTERACTION_SUCCESS' | 'INTERACTION_FAILURE',
): void {
  tell(world, type, interaction, {});
}

function tell(world: World, type: string, interaction: Interaction, data: object): void {
  const { id, nonce, channelId } = interaction;
  world.publish({
    type,
    intent: 0,
    only: 'person',
    dataFor: () => ({ ...data, id, channel_id: channelId, ...(nonce !== undefined && { nonce }) }),
  });
}
