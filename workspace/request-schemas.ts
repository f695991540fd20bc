// The shape and the sizes of the requests we answer. Unknown fields are ignored, as on Discord.

import * as z from 'zod';
import { custom, snowflake, text, whole } from './check-form.ts';
import { messageComponents } from './component-schema.ts';

const MAX_CONTENT = 2000;

const allowedMentions = z.object({
  parse: z.array(z.enum(['users', 'roles', 'everyone'])).optional(),
  users: z.array(snowflake).max(100).optional(),
  roles: z.array(snowflake).max(100).optional(),
  replied_user: z.boolean().nullish(),
});

export type AllowedMentions = z.infer<typeof allowedMentions>;

const attachment = z.object({
  id: snowflake,
  filename: text(0, 1024).nullish(),
  description: text(0, 1024).nullish(),
});

const embeds = z.array(z.record(z.string(), z.unknown())).max(10);

const SUPPRESS_EMBEDS = 4;
const EPHEMERAL = 64;
const SUPPRESS_NOTIFICATIONS = 4096;
const COMPONENTS_V2 = 32768;

/** Some flags decide where a message is stored: nobody sets them from outside. */
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

export const editMessageSchema = z.object({
  ...messageShape,
  flags: flags(SUPPRESS_EMBEDS).nullish(),
});

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
  /** Left out it means a private thread, on Discord too. */
  type: z.union([z.literal(10), z.literal(11), z.literal(12)]).default(12),
});

export const modifyThreadSchema = z.object({
  ...threadShape,
  name: threadShape.name.nullish(),
  archived: z.boolean().nullish(),
  locked: z.boolean().nullish(),
});

export const modifyChannelSchema = z.object({
  name: text(1, 100).nullish(),
  topic: text(0, 1024).nullish(),
});

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

export const reactionPageSchema = z.object({
  after: queryId.optional(),
  limit: limit(1).default(25),
});
