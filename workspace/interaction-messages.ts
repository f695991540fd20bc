// The messages that answer interactions, and the events about interactions for the user's page.

import { readForm } from './check-form.ts';
import type { OpenInteraction } from './open-interactions.ts';
import { composeMessage, postMessage, requireUnlocked, wakeFor } from './posting.ts';
import { EPHEMERAL, interactionMessageSchema } from './request-schemas.ts';
import type { RouteCall } from './rest-server.ts';
import { findMessage, type StoredMessage } from './storage/store.ts';
import { wireMessage } from './wire/message.ts';
import type { WorkspaceContext } from './workspace-context.ts';

/** "Is thinking…": a deferred answer without content yet. */
export const LOADING = 128;

export function answerMessage(
  call: RouteCall,
  interaction: OpenInteraction,
  data: unknown,
  flags: number,
): StoredMessage {
  const { context, uploads } = call;
  const form = readForm(interactionMessageSchema, data);
  const author = context.identity.botId;
  requireUnlocked(context, interaction.channelId);
  const message = composeMessage(context, {
    channelId: interaction.channelId,
    author,
    // Unlike other messages, this one only pings users by default.
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
        user: context.identity.userId,
        ...(interaction.name !== undefined && { name: interaction.name }),
      },
    },
  });
  if ((message.flags & EPHEMERAL) === 0) wakeFor(context, interaction.channelId, author);
  postMessage(context, message);
  return message;
}

export function refMessage(context: WorkspaceContext, ref: OpenInteraction['source']): StoredMessage | undefined {
  if (ref === undefined) return undefined;
  return context.interactions.ephemeral.get(ref.id) ?? findMessage(context.state, ref.channel, ref.id);
}

export function show(context: WorkspaceContext, message: StoredMessage) {
  return wireMessage(context, message, { actor: 'bot', seesContent: true });
}

export function tellOutcome(
  context: WorkspaceContext,
  interaction: OpenInteraction,
  type: 'INTERACTION_SUCCESS' | 'INTERACTION_FAILURE',
): void {
  sendInteractionEvent(context, type, interaction, {});
}

export function sendInteractionEvent(
  context: WorkspaceContext,
  type: string,
  interaction: OpenInteraction,
  data: object,
): void {
  const { id, nonce, channelId } = interaction;
  context.publish({
    type,
    intent: 0,
    only: 'person',
    dataFor: () => ({ ...data, id, channel_id: channelId, ...(nonce !== undefined && { nonce }) }),
  });
}
