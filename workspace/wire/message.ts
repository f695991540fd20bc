// Messages and threads as Discord shows them to one viewer. Without the message content intent, others' content is left out.

import { findMessage, type StoredAttachment, type StoredMessage, type StoredThread } from '../storage/store.ts';
import type { Viewer, WorkspaceContext } from '../workspace-context.ts';
import { idOf, isoOf, wireMember, wireUser } from './guild.ts';

const HAS_THREAD = 32;
const THREAD_STARTER = 21;

export function wireMessage(context: WorkspaceContext, message: StoredMessage, viewer: Viewer) {
  return { ...wirePlainMessage(context, message, viewer), ...wireReferenced(context, message, viewer) };
}

/** As in a gateway event: with the guild and the author's membership. */
export function wireMessageEvent(context: WorkspaceContext, message: StoredMessage, viewer: Viewer) {
  const { user: _, ...member } = wireMember(context.identity, message.author);
  return {
    ...wireMessage(context, message, viewer),
    guild_id: context.identity.guildId,
    channel_type: context.state.threads.has(message.channel_id) ? 11 : 0,
    member,
  };
}

function wirePlainMessage(context: WorkspaceContext, message: StoredMessage, viewer: Viewer) {
  const { identity, state } = context;
  const thread = state.threads.get(message.id);
  const readable = mayRead(context, message, viewer);
  return {
    id: message.id,
    channel_id: message.channel_id,
    type: message.type,
    content: readable ? message.content : '',
    author: wireUser(identity, message.author),
    timestamp: isoOf(message.id),
    edited_timestamp: message.edited_timestamp,
    tts: false,
    mention_everyone: message.mention_everyone,
    mentions: message.mentions.map((id) => wireUser(identity, id)),
    mention_roles: message.mention_roles,
    attachments: readable ? message.attachments.map((file) => wireAttachment(context, message, file)) : [],
    embeds: readable ? message.embeds : [],
    components: readable ? message.components : [],
    pinned: message.pinned ?? false,
    flags: message.flags | (thread === undefined ? 0 : HAS_THREAD),
    ...(message.nonce !== undefined && { nonce: message.nonce }),
    ...(message.message_reference && { message_reference: message.message_reference }),
    ...(message.reactions.length > 0 && { reactions: wireReactions(context, message, viewer) }),
    ...(thread && { thread: wireThread(context, thread, viewer) }),
    ...(message.interaction && wireInteraction(context, message.interaction)),
  };
}

function mayRead(context: WorkspaceContext, message: StoredMessage, viewer: Viewer): boolean {
  if (viewer.seesContent || viewer.actor === 'person') return true;
  const self = idOf(context.identity, viewer.actor);
  return message.author === self || message.mentions.includes(self);
}

function wireAttachment(context: WorkspaceContext, message: StoredMessage, file: StoredAttachment) {
  const url = context.url + context.attachments.pathOf(message.channel_id, file);
  return { ...file, url, proxy_url: url, flags: 0 };
}

function wireReactions(context: WorkspaceContext, message: StoredMessage, viewer: Viewer) {
  const self = idOf(context.identity, viewer.actor);
  return message.reactions.map(({ name, users }) => ({
    emoji: { id: null, name },
    count: users.length,
    count_details: { burst: 0, normal: users.length },
    burst_colors: [],
    me_burst: false,
    burst_me: false,
    burst_count: 0,
    me: users.includes(self),
  }));
}

function wireInteraction(context: WorkspaceContext, made: NonNullable<StoredMessage['interaction']>) {
  const user = wireUser(context.identity, made.user);
  return {
    webhook_id: context.identity.applicationId,
    application_id: context.identity.applicationId,
    interaction_metadata: {
      id: made.id,
      type: made.type,
      user,
      authorizing_integration_owners: { '0': context.identity.guildId },
      ...(made.name !== undefined && { name: made.name, command_type: 1 }),
    },
  };
}

function wireReferenced(context: WorkspaceContext, message: StoredMessage, viewer: Viewer) {
  const { message_reference: reference, type } = message;
  if (reference?.message_id === undefined || (type !== 19 && type !== 21)) return {};
  const referenced = findMessage(context.state, reference.channel_id, reference.message_id);
  return { referenced_message: referenced ? wirePlainMessage(context, referenced, viewer) : null };
}

export function wireThread(context: WorkspaceContext, thread: StoredThread, viewer?: Viewer) {
  const log = context.state.messages.get(thread.id) ?? [];
  const count = log.length - (log[0]?.type === THREAD_STARTER ? 1 : 0);
  const self = viewer && idOf(context.identity, viewer.actor);
  const member = thread.members.find(({ user }) => user === self);
  return {
    id: thread.id,
    type: 11,
    guild_id: context.identity.guildId,
    parent_id: thread.parent_id,
    name: thread.name,
    owner_id: thread.owner,
    last_message_id: context.state.lastMessage.get(thread.id) ?? null,
    rate_limit_per_user: thread.rate_limit_per_user,
    flags: 0,
    message_count: count,
    total_message_sent: count,
    member_count: thread.members.length,
    thread_metadata: {
      archived: thread.archived,
      archive_timestamp: thread.archive_timestamp,
      auto_archive_duration: thread.auto_archive_duration,
      locked: thread.locked,
      create_timestamp: thread.created ?? isoOf(thread.id),
    },
    ...(member && { member: wireThreadMember(thread, member) }),
  };
}

export function wireThreadMember(thread: StoredThread, member: StoredThread['members'][number]) {
  return { id: thread.id, user_id: member.user, join_timestamp: member.joined, flags: 0 };
}
