// The Discord objects that we read, reduced to the fields that we use.

import * as z from 'zod';
import { parseJson } from '../core/json.ts';

const userSchema = z.object({ id: z.string(), username: z.string().default(''), bot: z.boolean().default(false) });

const attachmentSchema = z.object({
  id: z.string(),
  filename: z.string(),
  size: z.number(),
  url: z.string(),
  content_type: z.string().nullish(),
});

/** A flag of a message: only one user sees it. */
export const PRIVATE_FLAG = 1 << 6;

export const messageSchema = z.object({
  id: z.string(),
  channel_id: z.string(),
  guild_id: z.string().optional(),
  type: z.number(),
  content: z.string(),
  author: userSchema,
  webhook_id: z.string().optional(),
  nonce: z.union([z.string(), z.number()]).nullish(),
  attachments: z.array(attachmentSchema).default([]),
  embeds: z.array(z.unknown()).default([]),
  components: z.array(z.unknown()).default([]),
  sticker_items: z.array(z.unknown()).default([]),
  message_snapshots: z.array(z.unknown()).default([]),
  poll: z.unknown().optional(),
  message_reference: z.object({ message_id: z.string().optional() }).nullish(),
});
export type DiscordMessage = z.output<typeof messageSchema>;

const REPLY = 19;

/** The message that this one replies to. Others refer to a message, too: one that was forwarded or crossposted. */
export function repliedToOf({ type, message_reference: reference }: DiscordMessage): string | undefined {
  return type === REPLY ? reference?.message_id : undefined;
}

export const channelSchema = z.object({
  id: z.string(),
  type: z.number(),
  name: z.string().nullish(),
  guild_id: z.string().optional(),
  parent_id: z.string().nullish(),
  owner_id: z.string().optional(),
  last_message_id: z.string().nullish(),
  thread_metadata: z
    .object({
      archived: z.boolean(),
      locked: z.boolean().default(false),
      archive_timestamp: z.string(),
      auto_archive_duration: z.number().optional(),
      create_timestamp: z.string().nullish(),
    })
    .optional(),
  /** Only in the event that reports a new thread. */
  newly_created: z.boolean().optional(),
});
export type DiscordChannel = z.output<typeof channelSchema>;

export const threadListSchema = z.object({ threads: z.array(channelSchema), has_more: z.boolean().default(false) });

export const guildCreateSchema = z.object({
  id: z.string(),
  unavailable: z.boolean().optional(),
  threads: z.array(channelSchema).default([]),
  channels: z.array(channelSchema).default([]),
});

export const readySchema = z.object({
  user: userSchema,
  application: z.object({ id: z.string(), flags: z.number().default(0) }),
});

/** Normal messages and replies; other types are system messages. */
export function isWritten(message: DiscordMessage): boolean {
  return message.type === 0 || message.type === REPLY;
}

// Payloads of the gateway connection.

const payloadSchema = z.object({ op: z.number(), d: z.unknown(), s: z.number().nullish(), t: z.string().nullish() });
export const helloSchema = z.object({ heartbeat_interval: z.number().positive() });

export const readyEventSchema = z.object({ session_id: z.string(), resume_gateway_url: z.string() });

export const gatewayBotSchema = z.object({
  url: z.string(),
  session_start_limit: z.object({ remaining: z.number(), reset_after: z.number() }),
});

export function parsePayload(text: string): z.output<typeof payloadSchema> | undefined {
  try {
    return payloadSchema.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

/** What is stored of a gateway session. */
export const gatewaySessionSchema = z.object({ id: z.string(), resumeUrl: z.string(), seq: z.number() });
