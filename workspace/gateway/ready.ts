// What a fresh gateway session hears first: READY, then the guild with its channel, its active threads and its members.

import { applicationFlags, idOf, isoOf, wireChannel, wireGuild, wireMe, wireMember } from '../wire/guild.ts';
import { wireThread } from '../wire/message.ts';
import { INTENT_BITS, type WorkspaceContext } from '../workspace-context.ts';
import { type ClientSession, sendToSession } from './client-sessions.ts';

export function greet(world: WorkspaceContext, session: ClientSession, gatewayUrl: string): void {
  const { identity, messageContentIntent } = world;
  sendToSession(session, 'READY', {
    v: 10,
    user: wireMe(identity, session.viewer.actor),
    user_settings: {},
    session_id: session.id,
    session_type: 'normal',
    resume_gateway_url: gatewayUrl,
    guilds: [{ id: identity.guildId, unavailable: true }],
    private_channels: [],
    relationships: [],
    presences: [],
    guild_join_requests: [],
    geo_ordered_rtc_regions: [],
    ...(session.viewer.actor === 'bot' && { shard: [0, 1] }),
    application: { id: identity.applicationId, flags: applicationFlags(messageContentIntent) },
    _trace: ['workspace'],
  });
  const all = session.viewer.actor === 'person';
  if (all || (session.intents & INTENT_BITS.guilds) !== 0)
    sendToSession(session, 'GUILD_CREATE', guildFor(world, session));
}

function guildFor(world: WorkspaceContext, session: ClientSession) {
  const { identity, state } = world;
  const active = [...state.threads.values()].filter((thread) => !thread.archived);
  return {
    ...wireGuild(identity),
    joined_at: isoOf(identity.guildId),
    large: false,
    unavailable: false,
    member_count: 2,
    voice_states: [],
    // Without the members intent a bot is told of itself alone.
    members: [wireMember(identity, idOf(identity, session.viewer.actor))],
    channels: [wireChannel(identity, state)],
    threads: active.map((thread) => wireThread(world, thread, session.viewer)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
    activity_instances: [],
    embedded_activities: [],
  };
}
