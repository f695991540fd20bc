// What never changes, as Discord shows it: one guild, one channel, two roles, two members, one application.

import { snowflakeTime } from '../../core/snowflake.ts';
import type { WorkspaceState } from '../storage/store.ts';
import type { Identity } from '../workspace-context.ts';

export type Actor = 'bot' | 'person';

const BOT_RIGHTS = [6, 10, 11, 14, 15, 16, 17, 18, 31, 34, 35, 38];
const EVERYONE_RIGHTS = [6, 10, 11, 14, 15, 16, 17, 31, 35, 38];
const MESSAGE_CONTENT_LIMITED = 1 << 19;

export function idOf(identity: Identity, actor: Actor): string {
  return actor === 'bot' ? identity.botId : identity.userId;
}

function rights(bits: readonly number[]): string {
  return String(bits.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n));
}

export const botRights = rights(BOT_RIGHTS);
export const ownerRights = rights(Array.from({ length: 50 }, (_, bit) => bit));

export function wireUser(identity: Identity, id: string) {
  const isBot = id === identity.botId;
  return {
    id,
    username: isBot ? 'threadmux' : 'you',
    global_name: isBot ? null : 'You',
    discriminator: isBot ? '0001' : '0',
    avatar: null,
    avatar_decoration_data: null,
    banner: null,
    accent_color: null,
    collectibles: null,
    primary_guild: null,
    bot: isBot,
    system: false,
    flags: 0,
    public_flags: 0,
  };
}

export function wireMe(identity: Identity, actor: Actor) {
  return {
    ...wireUser(identity, idOf(identity, actor)),
    mfa_enabled: false,
    locale: 'en-US',
    premium_type: 0,
    email: null,
    verified: true,
  };
}

export function wireMember(identity: Identity, id: string) {
  return {
    user: wireUser(identity, id),
    nick: null,
    avatar: null,
    banner: null,
    roles: id === identity.botId ? [identity.roleId] : [],
    joined_at: isoOf(identity.guildId),
    premium_since: null,
    communication_disabled_until: null,
    deaf: false,
    mute: false,
    pending: false,
    flags: 0,
  };
}

export function wireRoles(identity: Identity) {
  const role = {
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    icon: null,
    unicode_emoji: null,
    mentionable: false,
    flags: 0,
  };
  return [
    {
      ...role,
      id: identity.guildId,
      name: '@everyone',
      position: 0,
      managed: false,
      permissions: rights(EVERYONE_RIGHTS),
    },
    {
      ...role,
      id: identity.roleId,
      name: 'threadmux',
      position: 1,
      managed: true,
      permissions: botRights,
      tags: { bot_id: identity.botId },
    },
  ];
}

export function wireChannel(identity: Identity, state: WorkspaceState) {
  return {
    id: identity.channelId,
    type: 0,
    guild_id: identity.guildId,
    name: state.channel.name,
    topic: state.channel.topic,
    position: 0,
    parent_id: null,
    nsfw: false,
    rate_limit_per_user: 0,
    default_auto_archive_duration: 4320,
    permission_overwrites: [],
    last_message_id: state.lastMessage.get(identity.channelId) ?? null,
    last_pin_timestamp: null,
    flags: 0,
  };
}

export function wireGuild(identity: Identity) {
  return {
    id: identity.guildId,
    name: 'threadmux',
    icon: null,
    description: null,
    home_header: null,
    splash: null,
    discovery_splash: null,
    features: [],
    banner: null,
    owner_id: identity.userId,
    application_id: null,
    region: 'local',
    afk_channel_id: null,
    afk_timeout: 300,
    system_channel_id: null,
    system_channel_flags: 0,
    widget_enabled: false,
    widget_channel_id: null,
    verification_level: 0,
    roles: wireRoles(identity),
    emojis: [],
    stickers: [],
    default_message_notifications: 1,
    mfa_level: 0,
    explicit_content_filter: 0,
    max_presences: null,
    max_members: 500_000,
    max_stage_video_channel_users: 50,
    max_video_channel_users: 25,
    vanity_url_code: null,
    premium_tier: 0,
    premium_subscription_count: 0,
    preferred_locale: 'en-US',
    rules_channel_id: null,
    safety_alerts_channel_id: null,
    public_updates_channel_id: null,
    premium_progress_bar_enabled: false,
    nsfw: false,
    nsfw_level: 0,
    incidents_data: null,
  };
}

export function applicationFlags(messageContentIntent: boolean): number {
  return messageContentIntent ? MESSAGE_CONTENT_LIMITED : 0;
}

export function wireApplication(identity: Identity, messageContentIntent: boolean) {
  const flags = applicationFlags(messageContentIntent);
  return {
    id: identity.applicationId,
    name: 'threadmux',
    icon: null,
    description: '',
    type: null,
    verify_key: '0'.repeat(64),
    flags,
    flags_new: String(flags),
    bot: wireUser(identity, identity.botId),
    bot_public: false,
    bot_require_code_grant: false,
    guild_id: identity.guildId,
    redirect_uris: [],
    interactions_endpoint_url: null,
    role_connections_verification_url: null,
    owner: wireUser(identity, identity.userId),
    approximate_guild_count: 1,
    approximate_user_install_count: 0,
    approximate_user_authorization_count: 0,
    explicit_content_filter: 0,
    team: null,
    eligible_oauth2_scopes: ['bot', 'applications.commands'],
  };
}

/** Discord uses microseconds. The id's low bits fill them, so that no two of our times are equal. */
export function isoOf(id: string): string {
  const micro = String((BigInt(id) & 0x3fffffn) % 1000n).padStart(3, '0');
  return new Date(snowflakeTime(id)).toISOString().replace('Z', `${micro}+00:00`);
}
