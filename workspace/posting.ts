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
export function requireThread(context: WorkspaceContext, channelId: string): StoredThread | undefined {
  if (channelId === context.identity.channelId) return undefined;
  return context.state.threads.get(channelId) ?? refuse(UNKNOWN_CHANNEL);
}

/** Editing, reacting and joining do not unarchive a thread. */
export function requireAwake(context: WorkspaceContext, channelId: string): StoredThread | undefined {
  const thread = requireThread(context, channelId);
  if (thread?.archived) refuse(THREAD_ARCHIVED);
  return thread;
}

export function requireUnlocked(context: WorkspaceContext, channelId: string): void {
  if (requireThread(context, channelId)?.locked) refuse(THREAD_LOCKED);
}

/** A message unarchives its thread and makes its author a member. */
export function wakeFor(context: WorkspaceContext, channelId: string, author: string): void {
  const thread = requireThread(context, channelId);
  if (thread === undefined) return;
  if (thread.archived) changeThread(context, thread, { archived: false });
  joinThread(context, channelId, author);
}

export function changeThread(
  context: WorkspaceContext,
  thread: StoredThread,
  change: Partial<StoredThread>,
): StoredThread {
  const flipped = change.archived !== undefined && change.archived !== thread.archived;
  const next = { ...thread, ...change, ...(flipped && { archive_timestamp: isoOf(context.nextId()) }) };
  context.commit({ t: 'thread', thread: next });
  publishThread(context, 'THREAD_UPDATE', next);
  return next;
}

export function joinThread(context: WorkspaceContext, threadId: string, user: string): void {
  const thread = context.state.threads.get(threadId);
  if (thread === undefined || thread.members.some((member) => member.user === user)) return;
  const members = [...thread.members, { user, joined: isoOf(context.nextId()) }];
  context.commit({ t: 'thread', thread: { ...thread, members } });
  publishMembers(context, { ...thread, members }, { added: user });
}

interface PostDraft {
  readonly channelId: string;
  readonly author: string;
  readonly form: Omit<MessageForm, 'nonce' | 'enforce_nonce' | 'message_reference'> & Partial<MessageForm>;
  readonly uploads: readonly UploadedFile[];
  readonly extra?: Partial<StoredMessage>;
}

/** Saves the uploads and builds the message, but does not store or publish it. */
export function composeMessage(context: WorkspaceContext, draft: PostDraft): StoredMessage {
  const { form, channelId, author, uploads, extra } = draft;
  const reply = replyTo(context, channelId, form.message_reference);
  const content = form.content ?? '';
  const isEmpty = content.trim() === '' && uploads.length === 0;
  if (isEmpty && !form.embeds?.length && !form.components?.length) refuse(EMPTY_MESSAGE);
  return {
    id: context.nextId(),
    channel_id: channelId,
    author,
    type: reply === undefined ? 0 : 19,
    content,
    edited_timestamp: null,
    attachments: keepUploads(context, uploads, form.attachments),
    embeds: richEmbeds(form.embeds),
    components: numbered(form.components ?? []),
    ...mentionsOf(content, form.allowed_mentions, { ...known(context), repliedUser: reply?.author }),
    flags: form.flags ?? 0,
    ...(form.nonce != null && { nonce: form.nonce }),
    ...(reply && {
      message_reference: { type: 0, channel_id: channelId, message_id: reply.id, guild_id: context.identity.guildId },
    }),
    reactions: [],
    ...extra,
  };
}

function known(context: WorkspaceContext) {
  const { userId, botId, roleId } = context.identity;
  return { users: [userId, botId], roles: [roleId] };
}

function replyTo(context: WorkspaceContext, channelId: string, reference: MessageForm['message_reference']) {
  if (reference == null) return undefined;
  const found = findMessage(context.state, reference.channel_id ?? channelId, reference.message_id);
  if (found?.channel_id === channelId) return found;
  if (reference.fail_if_not_exists === false) return undefined;
  return refuseField(['message_reference'], 'MESSAGE_REFERENCE_UNKNOWN_MESSAGE', 'Unknown message');
}

function keepUploads(
  context: WorkspaceContext,
  uploads: readonly UploadedFile[],
  described: MessageForm['attachments'],
): StoredAttachment[] {
  const missing = (described ?? []).findIndex(({ id }) => !uploads.some(({ key }) => key === id));
  if (missing >= 0)
    refuseField(['attachments', missing, 'id'], 'ATTACHMENT_NOT_FOUND', 'There is no file with this number');
  return uploads.map(({ key, filename, contentType, data }) => {
    const words = described?.find(({ id }) => id === key);
    const id = context.nextId();
    context.attachments.keep(id, data);
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

function store(context: WorkspaceContext, message: StoredMessage): void {
  if ((message.flags & EPHEMERAL) !== 0) context.interactions.ephemeral.set(message.id, message);
  else context.commit({ t: 'message', message });
}

export function postMessage(context: WorkspaceContext, message: StoredMessage): void {
  store(context, message);
  publishMessage(context, 'MESSAGE_CREATE', message);
  for (const old of beyondLimits(context.state, message.channel_id)) removeMessage(context, old);
}

export function replaceMessage(context: WorkspaceContext, message: StoredMessage): void {
  const before =
    context.interactions.ephemeral.get(message.id) ?? findMessage(context.state, message.channel_id, message.id);
  store(context, message);
  // Only now: a full disk may have refused the change.
  for (const { id } of before?.attachments ?? []) {
    if (!message.attachments.some((kept) => kept.id === id)) context.attachments.forget(id);
  }
  publishMessage(context, 'MESSAGE_UPDATE', message);
}

export function removeMessage(context: WorkspaceContext, message: StoredMessage): void {
  if (!context.interactions.ephemeral.delete(message.id))
    context.commit({ t: 'message-gone', channel: message.channel_id, id: message.id });
  for (const { id } of message.attachments) context.attachments.forget(id);
  publishMessageGone(context, message);
}

/** The changed message. Fields missing in the form stay; fields that are null are cleared. */
export function edited(
  context: WorkspaceContext,
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
  const attachments = [...retained, ...keepUploads(context, added, described)];
  return {
    ...message,
    content,
    embeds,
    components,
    attachments,
    ...(form.content !== undefined && mentionsOf(content, form.allowed_mentions, known(context))),
    flags: form.flags == null ? message.flags : (message.flags & ~4) | form.flags,
    edited_timestamp: isoOf(context.nextId()),
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
