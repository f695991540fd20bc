// What only the user can do: press, choose, submit, run a command, autocomplete. Each becomes an interaction for the bot.

import * as z from 'zod';
import { UNKNOWN_COMMAND, UNKNOWN_INTERACTION, UNKNOWN_MESSAGE } from '../../discord/error-codes.ts';
import { type CommandOption, readForm, snowflake } from '../check-form.ts';
import { refMessage } from '../interaction-messages.ts';
import { givenOption, type OpenInteraction, submitted, tapped, typed } from '../open-interactions.ts';
import { changeThread, requireAwake, requireThread } from '../posting.ts';
import { type RefusalAnswer, refuse } from '../request-body.ts';
import type { RestRoute, RouteCall } from '../rest-server.ts';
import type { StoredCommand, StoredMessage } from '../storage/store.ts';
import { botRights, ownerRights, wireChannel, wireMember } from '../wire/guild.ts';
import { wireMessage, wireThread } from '../wire/message.ts';
import type { WorkspaceContext } from '../workspace-context.ts';

export const personRoutes: readonly RestRoute[] = [
  { method: 'POST', path: '/interactions', who: 'person', run: interact },
];

const base = { channel_id: snowflake, nonce: z.string().max(64).optional() };
const commandData = z.object({ name: z.string(), options: z.array(givenOption).max(25).default([]) });
const requestSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal(2), ...base, data: commandData }),
  z.object({ type: z.literal(4), ...base, data: commandData }),
  z.object({
    type: z.literal(3),
    ...base,
    message_id: snowflake,
    data: z.object({ custom_id: z.string(), values: z.array(z.string()).optional() }),
  }),
  z.object({
    type: z.literal(5),
    ...base,
    /** The interaction that was answered with the modal. */
    interaction_id: snowflake,
    data: z.object({ values: z.record(z.string(), z.union([z.string(), z.array(z.string())])) }),
  }),
]);
type Request = z.infer<typeof requestSchema>;
const TAP = 3;

function interact({ context, body }: RouteCall): RefusalAnswer {
  const request = readForm(requestSchema, body);
  const thread = requireThread(context, request.channel_id);
  // Discord's clients reopen an archived thread before they send a tap in it.
  if (request.type !== TAP || thread?.locked) requireAwake(context, request.channel_id);
  const { data, source, name } = prepare(context, request);
  if (thread?.archived) changeThread(context, thread, { archived: false });
  const interaction = context.interactions.open({
    id: context.nextId(),
    type: request.type,
    channelId: request.channel_id,
    nonce: request.nonce,
    name,
    source: source && { channel: source.channel_id, id: source.id },
  });
  publishInteraction(context, interaction, data, source);
  return { status: 200, body: { id: interaction.id } };
}

interface Prepared {
  readonly data: unknown;
  readonly source: StoredMessage | undefined;
  readonly name?: string | undefined;
}

function prepare(context: WorkspaceContext, request: Request): Prepared {
  switch (request.type) {
    case 2:
    case 4: {
      const command = commandNamed(context, request.data.name);
      const declared = (command.options ?? []) as readonly CommandOption[];
      const options = typed(declared, request.data.options, request.type === 2, ['data', 'options']);
      const { id, name, type, guild_id } = command;
      return {
        data: { id, name, type, ...(guild_id !== undefined && { guild_id }), options },
        source: undefined,
        name,
      };
    }
    case 3: {
      const source =
        refMessage(context, { channel: request.channel_id, id: request.message_id }) ?? refuse(UNKNOWN_MESSAGE);
      return { data: tapped(source, request.data.custom_id, request.data.values), source };
    }
    case 5: {
      const opened = context.interactions.byId(request.interaction_id) ?? refuse(UNKNOWN_INTERACTION);
      const data = submitted(opened, request.data.values);
      opened.modal = undefined; // a modal is submitted once
      return { data, source: refMessage(context, opened.source) };
    }
  }
}

function commandNamed(context: WorkspaceContext, name: string): StoredCommand {
  const all = [context.identity.guildId, 'global'].flatMap((scope) => context.state.commands.get(scope) ?? []);
  return all.find((command) => command.name === name && command.type === 1) ?? refuse(UNKNOWN_COMMAND);
}

function publishInteraction(
  context: WorkspaceContext,
  interaction: OpenInteraction,
  data: unknown,
  source: StoredMessage | undefined,
): void {
  const { identity, state } = context;
  const thread = state.threads.get(interaction.channelId);
  context.publish({
    type: 'INTERACTION_CREATE',
    intent: 0,
    only: 'bot',
    dataFor: (viewer) => ({
      id: interaction.id,
      application_id: identity.applicationId,
      type: interaction.type,
      data,
      guild_id: identity.guildId,
      guild: { id: identity.guildId, locale: 'en-US', features: [] },
      channel: {
        ...(thread ? wireThread(context, thread, viewer) : wireChannel(identity, state)),
        permissions: ownerRights,
      },
      channel_id: interaction.channelId,
      member: { ...wireMember(identity, identity.userId), permissions: ownerRights },
      token: interaction.token,
      version: 1,
      ...(source && { message: wireMessage(context, source, { ...viewer, seesContent: true }) }),
      app_permissions: botRights,
      locale: 'en-US',
      guild_locale: 'en-US',
      entitlements: [],
      authorizing_integration_owners: { '0': identity.guildId },
      context: 0,
      attachment_size_limit: 10_485_760,
    }),
  });
}
