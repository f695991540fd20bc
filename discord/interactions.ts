// Answers taps, menus, forms and slash commands. The first answer must come within three seconds, so it bypasses all
// queues.

import type {
  APIInteractionResponse,
  APIModalInteractionResponseCallbackData,
  RESTPutAPIApplicationGuildCommandsJSONBody,
} from 'discord-api-types/v10';
import * as z from 'zod';
import { cutMessage } from '../core/untrusted-text.ts';
import { ALREADY_ACKNOWLEDGED, UNKNOWN_INTERACTION } from './error-codes.ts';
import { bodyOf, type MessageDraft, refusedWith } from './messages.ts';
import { messageSchema, PRIVATE_FLAG } from './payloads.ts';
import type { Rest } from './rest.ts';

export type SlashCommandList = RESTPutAPIApplicationGuildCommandsJSONBody;

const optionSchema = z.object({
  name: z.string(),
  type: z.number().optional(),
  value: z.union([z.string(), z.number(), z.boolean()]).optional(),
  focused: z.boolean().optional(),
});

/** Text inputs of a modal, in rows or in labels. */
const fieldSchema = z.object({ custom_id: z.string(), value: z.string().default('') });
const modalPartSchema = z.union([
  z.object({ components: z.array(fieldSchema) }).transform(({ components }) => components),
  z.object({ component: fieldSchema }).transform(({ component }) => [component]),
]);

export const interactionSchema = z.object({
  id: z.string(),
  application_id: z.string(),
  token: z.string(),
  type: z.number(),
  channel_id: z.string().optional(),
  guild_id: z.string().optional(),
  member: z.object({ user: z.object({ id: z.string(), username: z.string().default('') }) }).optional(),
  user: z.object({ id: z.string(), username: z.string().default('') }).optional(),
  message: z
    .object({
      id: z.string(),
      author: z.object({ id: z.string() }),
      edited_timestamp: z.string().nullish(),
      components: z.array(z.unknown()).default([]),
    })
    .optional(),
  data: z
    .object({
      name: z.string().optional(),
      options: z.array(optionSchema).default([]),
      custom_id: z.string().optional(),
      values: z.array(z.string()).default([]),
      components: z
        .array(modalPartSchema)
        .default([])
        .transform((parts) => parts.flat()),
    })
    .optional(),
});
export type Interaction = z.output<typeof interactionSchema>;

export const COMMAND_INTERACTION = 2;
export const COMPONENT_INTERACTION = 3;
export const AUTOCOMPLETE_INTERACTION = 4;
export const MODAL_INTERACTION = 5;

/** Only the user who tapped sees it. */
export const replyPrivately = (rest: Rest, to: Interaction, content: string) =>
  answer(rest, to, { type: 4, data: { content, flags: PRIVATE_FLAG, allowed_mentions: { parse: [] } } });

/** Acknowledges a tap; the message is edited later. */
export const takeTap = (rest: Rest, to: Interaction) => answer(rest, to, { type: 6 });

/** Acknowledges a slash command; `followUp` sends the reply. */
export const takeCommand = (rest: Rest, to: Interaction) => answer(rest, to, { type: 5 });

/** What the user sees, and what is sent if they choose it. */
export interface Suggestion {
  readonly name: string;
  readonly value: string;
}

const MOST_SUGGESTIONS = 25;

export const suggest = (rest: Rest, to: Interaction, found: readonly Suggestion[]) =>
  answer(rest, to, {
    type: 8,
    data: {
      choices: found
        .filter(({ name, value }) => name !== '' && value !== '' && value.length <= 100)
        .slice(0, MOST_SUGGESTIONS)
        .map(({ name, value }) => ({ name: name.length <= 100 ? name : `${name.slice(0, 99)}…`, value })),
    },
  });

export const openModal = (rest: Rest, to: Interaction, data: APIModalInteractionResponseCallbackData) =>
  answer(rest, to, { type: 9, data });

const WORDS = 'words';

/** A form with one text field. */
export function textForm(
  customId: string,
  title: string,
  { isShort = false, most = 2_000 } = {},
): APIModalInteractionResponseCallbackData {
  const field = {
    type: 4 as const,
    custom_id: WORDS,
    label: title,
    required: true,
    max_length: most,
    style: isShort ? (1 as const) : (2 as const),
  };
  return { custom_id: customId, title, components: [{ type: 1 as const, components: [field] }] };
}

/** What was written into the field of a `textForm`; undefined before it was sent. */
export function wordsIn({ data }: Interaction): string | undefined {
  return data?.components.find(({ custom_id }) => custom_id === WORDS)?.value;
}

/** Resolves with the id of the reply. */
export async function followUp(rest: Rest, to: Interaction, draft: MessageDraft): Promise<string> {
  const path = `/webhooks/${to.application_id}/${to.token}/messages/@original`;
  const reply = await rest.call('PATCH', path, { body: bodyOf(draft), files: draft.files ?? [] });
  return messageSchema.pick({ id: true }).parse(reply).id;
}

/** Only the user who tapped sees it. For taps that are already acknowledged. */
export async function followUpPrivately(
  rest: Rest,
  to: Pick<Interaction, 'application_id' | 'token'>,
  content: string,
): Promise<void> {
  const body = { content: cutMessage(content, 1_900), flags: PRIVATE_FLAG, allowed_mentions: { parse: [] } };
  await rest.call('POST', `/webhooks/${to.application_id}/${to.token}`, { body });
}

/** False if the three seconds were over. */
async function answer(rest: Rest, to: Interaction, body: APIInteractionResponse): Promise<boolean> {
  try {
    await rest.call('POST', `/interactions/${to.id}/${to.token}/callback`, { body, patienceMs: 2_500 });
    return true;
  } catch (error) {
    // It was acknowledged; only the response was lost.
    if (refusedWith(error, ALREADY_ACKNOWLEDGED)) return true;
    if (refusedWith(error, UNKNOWN_INTERACTION)) return false;
    throw error;
  }
}

/** Writes the commands only if they changed, because writes per day are limited. */
export async function registerCommands(
  rest: Rest,
  applicationId: string,
  guildId: string,
  commands: SlashCommandList,
): Promise<boolean> {
  const path = `/applications/${applicationId}/guilds/${guildId}/commands`;
  const there = z.array(z.looseObject({ name: z.string() })).parse(await rest.call('GET', path));
  const isThere = (command: SlashCommandList[number]) =>
    there.some((one) => one.name === command.name && holds(one, command));
  if (there.length === commands.length && commands.every(isThere)) return false;
  await rest.call('PUT', path, { body: commands });
  return true;
}

/** Compares only the fields that we send, because the server adds others. */
function holds(has: unknown, wants: unknown): boolean {
  if (Array.isArray(wants))
    return Array.isArray(has) && has.length === wants.length && wants.every((want, at) => holds(has[at], want));
  if (typeof wants !== 'object' || wants === null) return has === wants || (wants === false && has === undefined);
  return Object.entries(wants).every(
    ([key, want]) => want === undefined || holds((has as Record<string, unknown> | null)?.[key], want),
  );
}
