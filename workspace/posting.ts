// Creates and changes messages: from a checked form and uploads to a stored and published message.
import {
  EMPTY_MESSAGE,
  THREAD_ARCHIVED,
  THREAD_LOCKED,
  TOO_MANY_ATTACHMENTS,
  UNKNOWN_CHANNEL,
} from '../discord/error-codes.ts';
import { publishMembers, publishMessage, publishMessageGone, publishThread } from './gateway/publish.ts';
import { refuse, refuseField, type UploadedFile } from './request-body.ts';
import { type AllowedMentions, type EditForm, EPHEMERAL, type MessageForm, numbered } from './request-schemas.ts';
import { findMessage, type StoredAttachment, type StoredMessage, type StoredThread } from './storage/store.ts';
import { beyondLimits, cleanFilename, MAX_FILES } from './storage/uploads.ts';
import { isoOf } from './wire/guild.ts';
import type { WorkspaceContext } from './workspace-context.ts';

/** The thread, `undefined` for the only channel; any other id is refused. */
export function requireThread(world: WorkspaceContext, channelId: string): StoredThread | undefined {
  if (channelId === world.identity.channelId) return undefined;
  return world.state.threads.get(channelId) ?? refuse(UNKNOWN_CHANNEL);
}

/** Editing, reacting and joining do not unarchive a thread. */
export function requireAwake(world: WorkspaceContext, channelId: string): StoredThread | undefined {
  const thread = requireThread(world, channelId);
  if (thread?.archived) refuse(THREAD_ARCHIVED);
  return thread;
}

export function requireUnlocked(world: WorkspaceContext, channelId: string): void {
  if (requireThread(world, channelId)?.locked) refuse(THREAD_LOCKED);
}

/** A message unarchives its thread and makes its author a member. */
export function wakeFor(world: WorkspaceContext, channelId: string, author: string): void {
  const thread = requireThread(world, channelId);
  if (thread === undefined) return;
  if (thread.archived) changeThread(world, thread, { archived: false });
  joinThread(world, channelId, author);
}

export function changeThread(
  world: WorkspaceContext,
  thread: StoredThread,
  change: Partial<StoredThread>,
): StoredThread {
  const flipped = change.archived !== undefined && change.archived !== thread.archived;
  const next = { ...thread, ...change, ...(flipped && { archive_timestamp: isoOf(world.nextId()) }) };
  world.commit({ t: 'thread', thread: next });
  publishThread(world, 'THREAD_UPDATE', next);
  return next;
}

export function joinThread(world: WorkspaceContext, threadId: string, user: string): void {
  const thread = world.state.threads.get(threadId);
  if (thread === undefined || thread.members.some((member) => member.user === user)) return;
  const members = [...thread.members, { user, joined: isoOf(world.nextId()) }];
  world.commit({ t: 'thread', thread: { ...thread, members } });
  publishMembers(world, { ...thread, members }, { added: user });
}

interface PostDraft {
  readonly channelId: string;
  readonly author: string;
  readonly form: Omit<MessageForm, 'nonce' | 'enforce_nonce' | 'message_reference'> & Partial<MessageForm>;
  readonly uploads: readonly UploadedFile[];
  readonly extra?: Partial<StoredMessage>;
}

/** Saves the uploads and builds the message, but does not store or publish it. */
export function composeMessage(world: WorkspaceContext, draft: PostDraft): StoredMessage {
  const { form, channelId, author, uploads, extra } = draft;
  const reply = replyTo(world, channelId, form.message_reference);
  const content = form.content ?? '';
  const isEmpty = content.trim() === '' && uploads.length === 0;
  if (isEmpty && !form.embeds?.length && !form.components?.length) refuse(EMPTY_MESSAGE);
  return {
    id: world.nextId(),
    channel_id: channelId,
    author,
    type: reply === undefined ? 0 : 19,
    content,
    edited_timestamp: null,
    attachments: keepUploads(world, uploads, form.attachments),
    embeds: richEmbeds(form.embeds),
    components: numbered(form.components ?? []),
    ...mentionsOf(content, form.allowed_mentions, { ...known(world), repliedUser: reply?.author }),
    flags: form.flags ?? 0,
    ...(form.nonce != null && { nonce: form.nonce }),
    ...(reply && {
      message_reference: { type: 0, channel_id: channelId, message_id: reply.id, guild_id: world.identity.guildId },
    }),
    reactions: [],
    ...extra,
  };
}

function known(world: WorkspaceContext) {
  const { userId, botId, roleId } = world.identity;
  return { users: [userId, botId], roles: [roleId] };
}

function replyTo(world: WorkspaceContext, channelId: string, reference: MessageForm['message_reference']) {
  if (reference == null) return undefined;
  const found = findMessage(world.state, reference.channel_id ?? channelId, reference.message_id);
  if (found?.channel_id === channelId) return found;
  if (reference.fail_if_not_exists === false) return undefined;
  return refuseField(['message_reference'], 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', 'Unknown message');
}

function keepUploads(
  world: WorkspaceContext,
  uploads: readonly UploadedFile[],
  described: MessageForm['attachments'],
): StoredAttachment[] {
  const missing = (described ?? []).findIndex(({ id }) => !uploads.some(({ key }) => key === id));
  if (missing >= 0)
    refuseField(['attachments', missing, 'id'], 'ATTACHMENT_NOT_FOUND', 'There is no file with this number');
  return uploads.map(({ key, filename, contentType, data }) => {
    const words = described?.find(({ id }) => id === key);
    const id = world.nextId();
    world.attachments.keep(id, data);
    return {
      id,
      filename: cleanFilename(words?.filename ?? filename),
      size: data.length,
      ...(contentType !== undefined && { content_type: contentType }),
      ...(words?.description != null && { description: words.description }),
    };
  });
}

function richEmbeds(embeds: MessageForm['embeds']): unknown[] {
  return (embeds ?? []).map((embed) => ({ type: 'rich', ...embed }));
}

function store(world: WorkspaceContext, message: StoredMessage): void {
  if ((message.flags & EPHEMERAL) !== 0) world.interactions.ephemeral.set(message.id, message);
  else world.commit({ t: 'message', message });
}

export function postMessage(world: WorkspaceContext, message: StoredMessage): void {
  store(world, message);
  publishMessage(world, 'MESSAGE_CREATE', message);
  for (const old of beyondLimits(world.state, message.channel_id)) removeMessage(world, old);
}

export function replaceMessage(world: WorkspaceContext, message: StoredMessage): void {
  const before =
    world.interactions.ephemeral.get(message.id) ?? findMessage(world.state, message.channel_id, message.id);
  store(world, message);
  // Only now: a full disk may have refused the change.
  for (const { id } of before?.attachments ?? []) {
    if (!message.attachments.some((kept) => kept.id === id)) world.attachments.forget(id);
  }
  publishMessage(world, 'MESSAGE_UPDATE', message);
}

export function removeMessage(world: WorkspaceContext, message: StoredMessage): void {
  if (!world.interactions.ephemeral.delete(message.id))
    world.commit({ t: 'message-gone', channel: message.channel_id, id: message.id });
  for (const { id } of message.attachments) world.attachments.forget(id);
  publishMessageGone(world, message);
}

/** The changed message. Fields missing in the form stay; fields that are null are cleared. */
export function edited(
  world: WorkspaceContext,
  message: StoredMessage,
  form: EditForm,
  uploads: readonly UploadedFile[],
): StoredMessage {
  const listedIds = form.attachments?.map(({ id }) => id);
  const retained = message.attachments.filter(({ id }) => listedIds?.includes(id) ?? form.attachments !== null);
  const described = form.attachments?.filter(({ id }) => !retained.some((kept) => kept.id === id));
  // `attachments` lists what remains: a new file that is not in it is dropped, too.
  const added = uploads.filter(({ key }) => listedIds?.includes(key) ?? true);
  const files = retained.length + added.length;
  if (files > MAX_FILES) refuse(TOO_MANY_ATTACHMENTS);
  const content = form.content === undefined ? message.content : (form.content ?? '');
  const embeds = form.embeds === undefined ? message.embeds : richEmbeds(form.embeds);
  const components = form.components === undefined ? message.components : numbered(form.components ?? []);
  if (content.trim() === '' && files + embeds.length + components.length === 0) refuse(EMPTY_MESSAGE);
  const attachments = [...retained, ...keepUploads(world, added, described)];
  return {
    ...message,
    content,
    embeds,
    components,
    attachments,
    ...(form.content !== undefined && mentionsOf(content, form.allowed_mentions, known(world))),
    flags: form.flags == null ? message.flags : (message.flags & ~4) | form.flags,
    edited_timestamp: isoOf(world.nextId()),
  };
}

// Whom a message pings: the mentions in its text, limited to what its sender allowed. Pure.
interface Mentioned {
  readonly mentions: string[];
  readonly mention_roles: string[];
  readonly mention_everyone: boolean;
}

interface Mentionable {
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** The author of the replied-to message. */
  readonly repliedUser?: string | undefined;
}

function mentionsOf(content: string, allowed: AllowedMentions | null | undefined, known: Mentionable): Mentioned {
  const everything = allowed == null;
  const parse: readonly string[] = everything ? ['users', 'roles', 'everyone'] : (allowed.parse ?? []);
  const pick = (kind: 'users' | 'roles', pattern: RegExp) =>
    idsIn(content, pattern)
      .filter((id) => known[kind].includes(id))
      .filter((id) => parse.includes(kind) || allowed?.[kind]?.includes(id));
  const users = new Set(pick('users', /<@!?(\d+)>/g));
  const repliedAllowed = everything || allowed.replied_user === true;
  if (known.repliedUser !== undefined && repliedAllowed) users.add(known.repliedUser);
  return {
    mentions: [...users],
    mention_roles: [...new Set(pick('roles', /<@&(\d+)>/g))],
    mention_everyone: parse.includes('everyone') && /@(?:everyone|here)\b/.test(content),
  };
}

function idsIn(content: string, pattern: RegExp): string[] {
  return Array.from(content.matchAll(pattern), (match) => match[1] ?? '');
}
