// The shape and the limits of the requests we accept. Unknown fields are ignored, as on Discord.
import * as z from 'zod';
import { custom, snowflake, text, whole } from './check-form.ts';

// Components of messages and modals: rows, buttons, selects, inputs, and their limits.
const customId = text(1, 100);
const emoji = z.looseObject({ name: z.string().nullish(), id: z.string().nullish() });
const componentId = z.number().int().nonnegative().optional();

const button = z.object({
  type: z.literal(2),
  id: componentId,
  style: z.union([1, 2, 3, 4, 5, 6].map((style) => z.literal(style))),
  label: text(0, 80).optional(),
  emoji: emoji.optional(),
  custom_id: customId.optional(),
  url: text(1, 512).optional(),
  disabled: z.boolean().optional(),
});

const option = z.object({
  label: text(1, 100),
  value: text(1, 100),
  description: text(0, 100).nullish(),
  emoji: emoji.optional(),
  default: z.boolean().optional(),
});

const selectShape = {
  id: componentId,
  custom_id: customId,
  placeholder: text(0, 150).optional(),
  min_values: whole(0, 25).default(1),
  max_values: whole(1, 25).default(1),
  disabled: z.boolean().optional(),
  required: z.boolean().optional(),
};

const stringSelect = z.object({ type: z.literal(3), ...selectShape, options: z.array(option).min(1).max(25) });

const entitySelects = [5, 6, 7, 8].map((type) => z.object({ type: z.literal(type), ...selectShape }));
const input = z.discriminatedUnion('type', [button, stringSelect, ...entitySelects] as const);

const row = z.object({ type: z.literal(1), id: componentId, components: z.array(input).min(1).max(5) });

export const messageComponents = z.array(row).max(5);

const textInput = z.object({
  type: z.literal(4),
  id: componentId,
  custom_id: customId,
  style: z.union([z.literal(1), z.literal(2)]),
  label: text(1, 45).nullish(),
  min_length: whole(0, 4000).optional(),
  max_length: whole(1, 4000).optional(),
  required: z.boolean().optional(),
  value: text(0, 4000).optional(),
  placeholder: text(0, 100).optional(),
});

const inputRow = z.object({
  type: z.literal(1),
  id: componentId,
  components: z.array(textInput.required({ label: true })).length(1),
});
const label = z.object({
  type: z.literal(18),
  id: componentId,
  label: text(1, 45),
  description: text(0, 100).nullish(),
  component: z.discriminatedUnion('type', [textInput, stringSelect]),
});

export const modalSchema = z.object({
  custom_id: customId,
  title: text(1, 45),
  components: z
    .array(z.discriminatedUnion('type', [inputRow, label]))
    .min(1)
    .max(5),
});

export type Modal = z.infer<typeof modalSchema>;
export type ModalInput = z.infer<typeof textInput> | z.infer<typeof stringSelect>;
export type MessageRow = z.infer<typeof row>;
export type MessageInput = MessageRow['components'][number];

/** Discord numbers components without an id. */
export function numbered(rows: readonly MessageRow[]): MessageRow[] {
  let next = 1;
  return rows.map((each) => {
    const id = each.id ?? next++;
    return {
      ...each,
      id,
      components: each.components.map((component) => ({ ...component, id: component.id ?? next++ })),
    } as MessageRow;
  });
}

const MAX_CONTENT = 2000;

const allowedMentions = z.object({
  parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
  users: z.array(snowflake).max(100).optional(),
  roles: z.array(snowflake).max(100).optional(),
  replied_user: z.boolean().nullish(),
});

export type AllowedMentions = z.infer<typeof allowedMentions>;

const attachment = z.object({ id: snowflake, filename: text(0, 1024).nullish(), description: text(0, 1024).nullish() });

const embeds = z.array(z.record(z.string(), z.unknown())).max(10);

const SUPPRESS_EMBEDS = 4;
/** Only the user sees it, until the server stops. */
export const EPHEMERAL = 64;
const SUPPRESS_NOTIFICATIONS = 4096;
const COMPONENTS_V2 = 32768;

/** Some flags decide where a message is stored, so clients may not set them. */
function flags(allowed: number) {
  return whole(0, 2 ** 53 - 1).superRefine((value, ctx) => {
    if ((value & COMPONENTS_V2) !== 0)
      custom(ctx, 'UNSUPPORTED', 'The local workspace knows only the older message components');
    else if ((value & ~allowed) !== 0) custom(ctx, 'MESSAGE_FLAGS_INVALID', 'These flags cannot be set');
  });
}

const messageShape = {
  content: text(0, MAX_CONTENT).nullish(),
  embeds: embeds.nullish(),
  components: messageComponents.nullish(),
  allowed_mentions: allowedMentions.nullish(),
  attachments: z.array(attachment).max(10).nullish(),
};

export const createMessageSchema = z.object({
  ...messageShape,
  nonce: z.union([text(0, 25), z.number().int()]).nullish(),
  enforce_nonce: z.boolean().nullish(),
  tts: z.boolean().nullish(),
  flags: flags(SUPPRESS_EMBEDS | SUPPRESS_NOTIFICATIONS).nullish(),
  message_reference: z
    .object({
      type: z.literal(0).optional(),
      message_id: snowflake,
      channel_id: snowflake.nullish(),
      guild_id: snowflake.nullish(),
      fail_if_not_exists: z.boolean().nullish(),
    })
    .nullish(),
});

export const editMessageSchema = z.object({ ...messageShape, flags: flags(SUPPRESS_EMBEDS).nullish() });

export const interactionMessageSchema = z.object({
  ...messageShape,
  tts: z.boolean().nullish(),
  flags: flags(SUPPRESS_EMBEDS | EPHEMERAL | SUPPRESS_NOTIFICATIONS).nullish(),
});

export type MessageForm = z.infer<typeof createMessageSchema>;
export type EditForm = z.infer<typeof editMessageSchema>;

const threadShape = {
  name: text(1, 100),
  auto_archive_duration: z.union([60, 1440, 4320, 10080].map((minutes) => z.literal(minutes))).nullish(),
  rate_limit_per_user: whole(0, 21_600).nullish(),
};

export const threadFromMessageSchema = z.object(threadShape);
export const threadSchema = z.object({
  ...threadShape,
  /** Default: a private thread, as on Discord. */
  type: z.union([z.literal(10), z.literal(11), z.literal(12)]).default(12),
});

export const modifyThreadSchema = z.object({
  ...threadShape,
  name: threadShape.name.nullish(),
  archived: z.boolean().nullish(),
  locked: z.boolean().nullish(),
});

export const modifyChannelSchema = z.object({ name: text(1, 100).nullish(), topic: text(0, 1024).nullish() });

const limit = (min: number) =>
  z
    .string()
    .regex(/^\d{1,4}$/, 'Value is not int.')
    .transform(Number)
    .pipe(whole(min, 100));

const queryId = z
  .string()
  .refine((value) => /^\d{1,20}$/.test(value) && BigInt(value) < 1n << 64n, 'Value is not snowflake.');

export const messagePageSchema = z
  .object({
    before: queryId.optional(),
    after: queryId.optional(),
    around: queryId.optional(),
    limit: limit(1).default(50),
  })
  .superRefine(({ before, after, around }, ctx) => {
    if ([before, after, around].filter((value) => value !== undefined).length > 1)
      custom(ctx, 'MUTUALLY_EXCLUSIVE', 'Only one of before, after and around may be given', ['before']);
  });

export const archivedPageSchema = z.object({
  before: z
    .string()
    .refine((value) => !Number.isNaN(Date.parse(value)), 'Value is not an ISO8601 timestamp.')
    .optional(),
  limit: limit(2).default(50),
});

export const reactionPageSchema = z.object({ after: queryId.optional(), limit: limit(1).default(25) });
