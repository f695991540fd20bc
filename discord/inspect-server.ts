// Reads what the bot is and may do, for init and doctor. Whatever a server does not report stays undefined and is not
// an error.

import * as z from 'zod';
import { clockDifference } from '../core/duration.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { UNKNOWN_USER } from './error-codes.ts';
import { requestOnce, USER_AGENT } from './http-pool.ts';
import { mayReadContent, missingPermissions, permissionsIn } from './permissions.ts';
import { unreachable } from './response.ts';
import type { Rest } from './rest.ts';

export interface BotInfo {
  readonly id: string;
  readonly name: string;
  readonly applicationId: string | undefined;
  /** Whether the message content intent is switched on; undefined if the server does not say. */
  readonly readsContent: boolean | undefined;
  /** The one server an application may belong to. */
  readonly homeGuild: string | undefined;
}

export interface ChannelInfo {
  readonly id: string;
  readonly name: string;
  readonly guildId: string | undefined;
  readonly isText: boolean;
  /** Names of permissions; undefined if they cannot be computed from what the server tells. */
  readonly missing: readonly string[] | undefined;
}

interface ChannelChoice {
  readonly id: string;
  readonly name: string;
  readonly guild: string;
}

const named = z.object({ id: z.string(), name: z.string().nullish() });
const userSchema = z.object({ id: z.string(), username: z.string().default('') });
const applicationSchema = z.object({ id: z.string(), flags: z.number().optional(), guild_id: z.string().nullish() });
const channelSchema = z.object({
  id: z.string(),
  type: z.number(),
  name: z.string().nullish(),
  guild_id: z.string().optional(),
  permission_overwrites: z.array(z.object({ id: z.string(), allow: z.string(), deny: z.string() })).default([]),
});
const memberSchema = z.object({ roles: z.array(z.string()), communication_disabled_until: z.string().nullish() });
const guildSchema = z.object({ id: z.string(), name: z.string(), owner_id: z.string().optional() });
const rolesSchema = z.array(z.object({ id: z.string(), permissions: z.string() }));

const TEXT = 0;

/** Rejects if the token is refused or the server cannot be reached. */
export async function inspectBot(rest: Rest): Promise<BotInfo> {
  const me = userSchema.parse(await rest.call('GET', '/users/@me'));
  const application = await told(rest, '/applications/@me', applicationSchema);
  const flags = application?.flags;
  return {
    id: me.id,
    name: me.username,
    applicationId: application?.id,
    readsContent: flags === undefined ? undefined : mayReadContent(flags),
    homeGuild: application?.guild_id ?? undefined,
  };
}

/** Rejects if the channel is gone or the bot may not see it. */
export async function inspectChannel(rest: Rest, channelId: string, botId: string): Promise<ChannelInfo> {
  const channel = channelSchema.parse(await rest.call('GET', `/channels/${channelId}`));
  const { guild_id: guildId } = channel;
  const look = { id: channel.id, name: channel.name ?? channel.id, guildId };
  const isText = channel.type === TEXT && guildId !== undefined;
  if (guildId === undefined) return { ...look, isText, missing: undefined };
  const [guild, roles, member] = await Promise.all([
    told(rest, `/guilds/${guildId}`, guildSchema),
    told(rest, `/guilds/${guildId}/roles`, rolesSchema),
    told(rest, `/guilds/${guildId}/members/${botId}`, memberSchema),
  ]);
  if (roles === undefined || member === undefined) return { ...look, isText, missing: undefined };
  const granted = permissionsIn({
    guildId,
    ownerId: guild?.owner_id,
    memberId: botId,
    memberRoles: member.roles,
    roles,
    overwrites: channel.permission_overwrites,
    timedOut: Date.parse(member.communication_disabled_until ?? '') > Date.now(),
  });
  return { ...look, isText, missing: missingPermissions(granted) };
}

/** The text channels of every server the bot is in. */
export async function listChannels(rest: Rest, bot: BotInfo): Promise<readonly ChannelChoice[]> {
  const joined = (await told(rest, '/users/@me/guilds', z.array(named))) ?? [];
  const ids = new Set([...joined.map(({ id }) => id), ...(bot.homeGuild ? [bot.homeGuild] : [])]);
  const lists = await Promise.all(
    [...ids].map(async (id) => {
      const name = joined.find((guild) => guild.id === id)?.name;
      const channels = (await told(rest, `/guilds/${id}/channels`, z.array(channelSchema))) ?? [];
      const guild = name ?? (await told(rest, `/guilds/${id}`, guildSchema))?.name ?? id;
      return channels
        .filter(({ type }) => type === TEXT)
        .map((channel) => ({ id: channel.id, name: channel.name ?? channel.id, guild }));
    }),
  );
  return lists.flat();
}

/** False only if the server says that there is no such user. */
export async function isUserKnown(rest: Rest, id: string): Promise<boolean> {
  try {
    await rest.call('GET', `/users/${id}`);
    return true;
  } catch (error) {
    if (isThreadmuxError(error, 'discord_refused')) return error.answer?.code !== UNKNOWN_USER;
    throw error;
  }
}

async function told<T extends z.ZodType>(rest: Rest, path: string, schema: T): Promise<z.output<T> | undefined> {
  try {
    return schema.safeParse(await rest.call('GET', path)).data;
  } catch (error) {
    if (isThreadmuxError(error, 'discord_refused')) return undefined;
    throw error;
  }
}

// Asks the server for its time; this needs no token.

/** How many milliseconds the server's clock is ahead of ours, accurate to a second; undefined if it is not reported. */
export async function serverClock(api: string, timeoutMs = 8_000): Promise<number | undefined> {
  const asked = Date.now();
  try {
    const options = {
      headers: { 'user-agent': USER_AGENT },
      headersTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    };
    const url = `${api.replace(/\/$/, '')}/gateway`;
    const date = await requestOnce(url, options, timeoutMs, async ({ headers, body }) => {
      await body.dump();
      return headers.date;
    });
    const there = Date.parse(String(date ?? ''));
    return Number.isNaN(there) ? undefined : clockDifference(there, asked, Date.now());
  } catch (cause) {
    const { code, message } = cause as { code?: string; message?: string };
    throw unreachable(`asking ${api}: ${code ?? message ?? 'no answer'}`, cause);
  }
}
