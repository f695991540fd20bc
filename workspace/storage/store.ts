// The state of the workspace, and how one journal record changes it. No files or sockets: replaying the records gives the state.

import * as z from 'zod';
import { snowflakeTime } from '../../core/snowflake.ts';
import { compareSnowflakes, findById, putById, removeById } from './message-log.ts';

const attachmentSchema = z.object({
  id: z.string(),
  filename: z.string(),
  size: z.number(),
  description: z.string().optional(),
  content_type: z.string().optional(),
});

const messageSchema = z.object({
  id: z.string(),
  channel_id: z.string(),
  author: z.string(),
  type: z.number(),
  content: z.string(),
  edited_timestamp: z.string().nullable(),
  attachments: z.array(attachmentSchema),
  embeds: z.array(z.unknown()),
  components: z.array(z.unknown()),
  mentions: z.array(z.string()),
  mention_roles: z.array(z.string()),
  mention_everyone: z.boolean(),
  flags: z.number(),
  pinned: z.boolean().optional(),
  nonce: z.union([z.string(), z.number()]).optional(),
  message_reference: z
    .object({ type: z.number(), channel_id: z.string(), message_id: z.string(), guild_id: z.string() })
    .partial({ message_id: true })
    .optional(),
  interaction: z.object({ id: z.string(), type: z.number(), user: z.string(), name: z.string().optional() }).optional(),
  reactions: z.array(z.object({ name: z.string(), users: z.array(z.string()) })),
});

const threadSchema = z.object({
  id: z.string(),
  parent_id: z.string(),
  name: z.string(),
  owner: z.string(),
  archived: z.boolean(),
  locked: z.boolean(),
  archive_timestamp: z.string(),
  created: z.string().optional(),
  auto_archive_duration: z.number(),
  rate_limit_per_user: z.number(),
  members: z.array(z.object({ user: z.string(), joined: z.string() })),
});

const commandSchema = z.looseObject({ id: z.string(), name: z.string(), type: z.number() });

export const recordSchema = z.discriminatedUnion('t', [
  z.object({ t: z.literal('message'), message: messageSchema }),
  z.object({
    t: z.literal('edit'),
    channel: z.string(),
    id: z.string(),
    set: messageSchema.omit({ id: true, channel_id: true, content: true }).partial(),
    content: z.tuple([z.number(), z.number(), z.string()]).readonly().optional(),
  }),
  z.object({ t: z.literal('message-gone'), channel: z.string(), id: z.string() }),
  z.object({ t: z.literal('thread'), thread: threadSchema }),
  z.object({ t: z.literal('thread-gone'), id: z.string() }),
  z.object({ t: z.literal('channel'), name: z.string(), topic: z.string().nullable() }),
  z.object({ t: z.literal('commands'), scope: z.string(), commands: z.array(commandSchema) }),
  z.object({ t: z.literal('nonce'), key: z.string(), channel: z.string(), id: z.string() }),
  z.object({ t: z.literal('last-id'), id: z.string() }),
]);

export type StoreRecord = z.infer<typeof recordSchema>;
type EditRecord = Extract<StoreRecord, { t: 'edit' }>;
export type StoredAttachment = Readonly<z.infer<typeof attachmentSchema>>;
export type StoredMessage = Readonly<z.infer<typeof messageSchema>>;
export type StoredThread = Readonly<z.infer<typeof threadSchema>>;
export type StoredCommand = Readonly<z.infer<typeof commandSchema>>;

export interface WorkspaceState {
  channel: { readonly name: string; readonly topic: string | null };
  readonly threads: Map<string, StoredThread>;
  /** By channel or thread, oldest first. */
  readonly messages: Map<string, StoredMessage[]>;
  /** The newest message ever, even if it was deleted, as Discord reports it. */
  readonly lastMessage: Map<string, string>;
  readonly commands: Map<string, readonly StoredCommand[]>;
  /** Author and nonce -> the message created with it, oldest first. */
  readonly nonces: Map<string, { readonly channel: string; readonly id: string }>;
  lastId: string;
}

export function emptyState(): WorkspaceState {
  return {
    channel: { name: 'agents', topic: null },
    threads: new Map(),
    messages: new Map(),
    lastMessage: new Map(),
    commands: new Map(),
    nonces: new Map(),
    lastId: '0',
  };
}

export function applyRecord(state: WorkspaceState, record: StoreRecord): void {
  switch (record.t) {
    case 'message':
      return putMessage(state, record.message);
    case 'edit':
      return applyEdit(state, record);
    case 'message-gone':
      return removeById(state.messages.get(record.channel) ?? [], record.id);
    case 'thread':
      state.threads.set(record.thread.id, record.thread);
      return noteId(state, record.thread.id);
    case 'thread-gone':
      state.threads.delete(record.id);
      state.messages.delete(record.id);
      return;
    case 'channel':
      state.channel = { name: record.name, topic: record.topic };
      return;
    case 'commands':
      state.commands.set(record.scope, record.commands);
      for (const command of record.commands) noteId(state, command.id);
      return;
    case 'nonce':
      state.nonces.set(record.key, { channel: record.channel, id: record.id });
      return;
    case 'last-id':
      return noteId(state, record.id);
  }
}

function putMessage(state: WorkspaceState, message: StoredMessage): void {
  const log = state.messages.get(message.channel_id) ?? [];
  state.messages.set(message.channel_id, log);
  noteId(state, message.id);
  if (!putById(log, message)) return;
  state.lastMessage.set(message.channel_id, message.id);
  if (message.nonce === undefined) return;
  const key = nonceKey(message.author, message.nonce);
  state.nonces.delete(key); // set again at the end, so that the map stays ordered by time
  state.nonces.set(key, { channel: message.channel_id, id: message.id });
}

function applyEdit(state: WorkspaceState, { channel, id, set, content }: EditRecord): void {
  const message = findMessage(state, channel, id);
  if (message === undefined) return;
  const text = content === undefined ? message.content : spliced(message.content, content);
  // No key has the value undefined: it would not survive the journal.
  putMessage(state, { ...message, ...(set as Partial<StoredMessage>), content: text });
}

/** For an existing message, the record only contains the changes. */
export function leanRecord(state: WorkspaceState, record: StoreRecord): StoreRecord {
  if (record.t !== 'message') return record;
  const { message } = record;
  const before: Partial<StoredMessage> | undefined = findMessage(state, message.channel_id, message.id);
  if (before === undefined || Object.keys(before).some((key) => !(key in message))) return record;
  const { content, ...set } = Object.fromEntries(
    Object.entries(message).filter(
      ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof StoredMessage]),
    ),
  );
  const splice = spliceBetween(before.content ?? '', message.content);
  return {
    t: 'edit',
    channel: message.channel_id,
    id: message.id,
    set,
    ...(content !== undefined && { content: splice }),
  };
}

function noteId(state: WorkspaceState, id: string): void {
  if (compareSnowflakes(id, state.lastId) > 0) state.lastId = id;
}

export function nonceKey(author: string, nonce: string | number): string {
  return `${author} ${nonce}`;
}

/** The message that this author created with the nonce within the window; removes older nonces. */
export function madeWithNonce(
  state: WorkspaceState,
  key: string,
  sinceMs: number,
): { channel: string; id: string } | undefined {
  for (const [old, made] of state.nonces) {
    if (snowflakeTime(made.id) >= sinceMs) break;
    state.nonces.delete(old);
  }
  const made = state.nonces.get(key);
  return made !== undefined && snowflakeTime(made.id) >= sinceMs ? made : undefined;
}

export function findMessage(state: WorkspaceState, channel: string, id: string): StoredMessage | undefined {
  return findById(state.messages.get(channel) ?? [], id);
}

/** The shortest list of records that produces this state. */
export function* snapshot(state: WorkspaceState): Generator<StoreRecord> {
  yield { t: 'last-id', id: state.lastId };
  yield { t: 'channel', ...state.channel };
  for (const thread of state.threads.values()) yield { t: 'thread', thread };
  for (const log of state.messages.values()) {
    for (const message of log) yield { t: 'message', message };
  }
  for (const [scope, commands] of state.commands) yield { t: 'commands', scope, commands: [...commands] };
  for (const [key, made] of state.nonces) {
    // A stored message includes its nonce.
    if (findMessage(state, made.channel, made.id) === undefined) yield { t: 'nonce', key, ...made };
  }
}

/** The difference between two texts as one replaced piece: an edit that adds a line is stored as that line. */
type Splice = readonly [start: number, removed: number, added: string];

export function spliceBetween(before: string, after: string): Splice {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [start, before.length - start - end, after.slice(start, after.length - end)];
}

export function spliced(before: string, [start, removed, added]: Splice): string {
  return before.slice(0, start) + added + before.slice(start + removed);
}
