// How the bot answers an interaction: once, within three seconds. The token in the path is the key.

import * as z from 'zod';
import {
  ALREADY_ACKNOWLEDGED,
  UNKNOWN_INTERACTION,
  UNKNOWN_MESSAGE,
} from '../discord/error-codes.ts';
import { modalSchema } from './component-limits.ts';
import { readForm, text } from './form.ts';
import {
  answerMessage,
  LOADING,
  refMessage,
  show,
  tell,
  tellOutcome,
} from './interaction-messages.ts';
import { ANSWER_WITHIN_MS, type Interaction } from './interactions.ts';
import { editMessageSchema, interactionMessageSchema } from './limits.ts';
import { EPHEMERAL, edited, replace } from './posting.ts';
import { type Answer, refuse, refuseField } from './refusal.ts';
import type { Call, Route } from './router.ts';
import type { StoredMessage } from './store.ts';
import type { World } from './world.ts';

export const callbackRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/interactions/:interaction/:token/callback',
    who: 'anyone',
    run: answerInteraction,
  },
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
  const interaction = world.interactions.byId(param('interaction')) ?? refuse(UNKNOWN_INTERACTION);
  if (interaction.token !== param('token')) refuse(UNKNOWN_INTERACTION);
  if (interaction.answered !== undefined) refuse(ALREADY_ACKNOWLEDGED);
  if (Date.now() - interaction.startedAt > ANSWER_WITHIN_MS) refuse(UNKNOWN_INTERACTION);
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
      const source = refMessage(world, interaction.source) ?? refuse(UNKNOWN_MESSAGE);
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
    // A deferred answer is described as what it will become.
    ...(message && { resource: { type: type < 6 ? 4 : 7, message: show(world, message) } }),
  };
}
