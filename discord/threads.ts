// Finds, creates, renames and archives threads. Several processes can create the same thread at once: all post the same
// welcome message (same nonce), and a message has at most one thread.

import type { RESTPatchAPIChannelJSONBody, RESTPostAPIChannelMessagesThreadsJSONBody } from 'discord-api-types/v10';
import { ThreadmuxError } from '../core/errors.ts';
import { byAge, stableNonce } from '../core/snowflake.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import {
  THREAD_ALREADY_CREATED,
  THREAD_ARCHIVED,
  THREAD_LOCKED,
  UNKNOWN_CHANNEL,
  UNKNOWN_MESSAGE,
} from './error-codes.ts';
import { createMessage, refusedWith } from './messages.ts';
import { channelSchema, type DiscordChannel, threadListSchema } from './payloads.ts';
import type { CallOptions, Rest } from './rest.ts';

export interface ThreadRef {
  readonly id: string;
  readonly title: string;
  readonly parentId: string;
  readonly archived: boolean;
  readonly lastMessageId: string | undefined;
  /** When its archived state last changed, and after how many minutes without activity Discord archives it. */
  readonly archiving?: { readonly at: number; readonly afterMinutes: number };
}

/** A channel, and our user id. */
export interface ThreadChannel {
  readonly rest: Rest;
  readonly channelId: string;
  readonly guildId: string;
  readonly botId: string;
}

export async function openThreadChannel(rest: Rest, channelId: string): Promise<ThreadChannel> {
  const [channel, me] = await Promise.all([rest.call('GET', `/channels/${channelId}`), rest.call('GET', '/users/@me')]);
  const { guild_id: guildId, type } = channelSchema.parse(channel);
  if (guildId === undefined || type !== 0)
    throw new ThreadmuxError('config_invalid', `channel ${channelId} is not a text channel of a server`, {
      hint: 'Put the id of an ordinary text channel into "channel".',
    });
  return { rest, channelId, guildId, botId: channelSchema.pick({ id: true }).parse(me).id };
}

/** `isTaken` is true for threads of other sessions. */
export async function ensureThread(
  place: ThreadChannel,
  title: string,
  welcome: string,
  members: readonly string[] = [],
  isTaken?: (id: string) => boolean,
): Promise<ThreadRef> {
  const found = await findThread(place, title, isTaken);
  if (found === undefined) return freshThread(place, title, welcome, members);
  if (found.archived) await unarchiveThread(place.rest, found.id);
  return { ...found, archived: false };
}

/** Only threads that our bot created in our channel: anybody can create one with the same title. */
async function findThread(
  place: ThreadChannel,
  title: string,
  isTaken: (id: string) => boolean = () => false,
): Promise<ThreadRef | undefined> {
  const isIt = (thread: ThreadRef) => thread.title === title && !isTaken(thread.id);
  const active = (await activeThreads(place)).filter(isIt);
  if (active.length > 0) return oldest(active);
  for await (const page of archivedThreads(place)) {
    const archived = page.filter(isIt);
    if (archived.length > 0) return oldest(archived);
  }
  return undefined;
}

export async function activeThreads(place: ThreadChannel): Promise<readonly ThreadRef[]> {
  const list = threadListSchema.parse(await place.rest.call('GET', `/guilds/${place.guildId}/threads/active`));
  return list.threads.flatMap((thread) => ourThread(place, thread));
}

async function* archivedThreads(place: ThreadChannel): AsyncGenerator<readonly ThreadRef[]> {
  for (let before = ''; ; ) {
    const path = `/channels/${place.channelId}/threads/archived/public?limit=100${before}`;
    const page = threadListSchema.parse(await place.rest.call('GET', path));
    yield page.threads.flatMap((thread) => ourThread(place, thread));
    const last = page.threads.at(-1)?.thread_metadata?.archive_timestamp;
    if (!page.has_more || last === undefined) return;
    before = `&before=${encodeURIComponent(last)}`;
  }
}

/** Undefined if it is gone or not ours. */
export async function getThread(
  place: ThreadChannel,
  id: string,
  isAdopted?: (id: string) => boolean,
): Promise<ThreadRef | undefined> {
  const channel = await getChannel(place.rest, id);
  return channel === undefined ? undefined : ourThread(place, channel, isAdopted)[0];
}

/** `isAdopted` is true for threads that a user created and that have a session. */
export function ourThread(
  place: ThreadChannel,
  channel: DiscordChannel,
  isAdopted: (id: string) => boolean = () => false,
): readonly ThreadRef[] {
  const { id, name, parent_id, owner_id, thread_metadata: metadata } = channel;
  if (parent_id !== place.channelId || metadata === undefined) return [];
  if (owner_id !== place.botId && !isAdopted(id)) return [];
  const { archived, archive_timestamp: changed, auto_archive_duration: afterMinutes } = metadata;
  return [
    {
      id,
      title: name ?? '',
      parentId: parent_id,
      archived,
      lastMessageId: channel.last_message_id ?? undefined,
      ...(afterMinutes === undefined ? {} : { archiving: { at: Date.parse(changed), afterMinutes } }),
    },
  ];
}

/** Discord refuses it for an archived thread. */
export const renameThread = (rest: Rest, id: string, title: string) => modify(rest, id, { name: title });
export async function archiveThread(rest: Rest, id: string): Promise<void> {
  const ours = archivedByUs.get(rest) ?? new Map<string, number>();
  archivedByUs.set(rest, ours.set(id, Date.now()));
  await modify(rest, id, { archived: true });
}
export const unarchiveThread = (rest: Rest, id: string, options: CallOptions = {}) =>
  modify(rest, id, { archived: false, locked: false }, options);

/** How many changes each reopened thread waits for. */
const reopenedFor = new Map<string, number>();
const archivedByUs = new WeakMap<Rest, Map<string, number>>();
/** An event that reports it may be this late. */
const REPORTED_WITHIN_MS = 60_000;

/** Whether this process archived the thread a moment ago: the gateway does not say who did. */
export function wasArchivedByUs(rest: Rest, id: string): boolean {
  const at = archivedByUs.get(rest)?.get(id);
  return at !== undefined && Date.now() - at < REPORTED_WITHIN_MS;
}

/** Editing and reacting do not reopen an archived thread, and posting does not unlock a locked one. Reopens it and runs `act` again. */
export async function unarchiveAndRetry<T>(
  rest: Rest,
  id: string,
  act: () => Promise<T>,
  { archiveAgain = false, ...options }: CallOptions & { readonly archiveAgain?: boolean } = {},
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isOfClosedThread(error)) throw error;
  }
  reopenedFor.set(id, (reopenedFor.get(id) ?? 0) + 1);
  try {
    await unarchiveThread(rest, id, options);
    return await act();
  } finally {
    const others = (reopenedFor.get(id) ?? 1) - 1;
    if (others > 0) reopenedFor.set(id, others);
    else reopenedFor.delete(id);
    // Only the last one archives it: the others would be refused again.
    if (archiveAgain && others === 0) await archiveThread(rest, id);
  }
}

/** Also after it was reopened, if somebody closed it again in that moment: trying again later may help. */
export function isOfClosedThread(error: unknown): boolean {
  return refusedWith(error, THREAD_ARCHIVED, THREAD_LOCKED);
}

async function modify(
  rest: Rest,
  id: string,
  body: RESTPatchAPIChannelJSONBody,
  options: CallOptions = {},
): Promise<void> {
  await rest.call('PATCH', `/channels/${id}`, { ...options, body });
}

/** Discord archives the thread after a week without messages. */
const AUTO_ARCHIVE_MINUTES = 10_080;
const WELCOMES_TRIED = 4;

/** Creates a new thread, even if the title exists. The same `order` always returns the same thread. */
export async function freshThread(
  place: ThreadChannel,
  title: string,
  welcome: string,
  members: readonly string[],
  order = '',
): Promise<ThreadRef> {
  // All processes try the same nonces in the same order, so they agree even if a thread was just deleted.
  for (let round = 0; round < WELCOMES_TRIED; round++) {
    const nonce = stableNonce(...['welcome', place.channelId, title, round, ...(order === '' ? [] : [order])]);
    const message = await createMessage(place.rest, place.channelId, nonce, { content: welcome, silent: true });
    if (message === undefined) continue;
    const thread = await startThread(place, message.id, title);
    if (thread === undefined) continue;
    await Promise.all(['@me', ...members].map((who) => addThreadMember(place.rest, thread.id, who)));
    return thread;
  }
  throw new ThreadmuxError(
    'discord_refused',
    `The thread ${untrustedCode(title)} was deleted right after it was created.`,
    {
      hint: 'Wait a few minutes and try again.',
    },
  );
}

async function startThread(place: ThreadChannel, messageId: string, title: string): Promise<ThreadRef | undefined> {
  const body: RESTPostAPIChannelMessagesThreadsJSONBody = { name: title, auto_archive_duration: AUTO_ARCHIVE_MINUTES };
  try {
    const path = `/channels/${place.channelId}/messages/${messageId}/threads`;
    const made = channelSchema.parse(await place.rest.call('POST', path, { body }));
    return ourThread(place, made)[0];
  } catch (error) {
    if (refusedWith(error, UNKNOWN_MESSAGE)) return undefined;
    if (!refusedWith(error, THREAD_ALREADY_CREATED)) throw error;
    return getThread(place, messageId);
  }
}

/** Best effort: users who are not members can open the thread, but get no notifications. */
export async function addThreadMember(rest: Rest, id: string, who: string): Promise<void> {
  await rest.call('PUT', `/channels/${id}/thread-members/${who}`, { patienceMs: 0 }).catch(() => {});
}

export async function getChannel(rest: Rest, id: string): Promise<DiscordChannel | undefined> {
  try {
    return channelSchema.parse(await rest.call('GET', `/channels/${id}`));
  } catch (error) {
    if (refusedWith(error, UNKNOWN_CHANNEL)) return undefined;
    throw error;
  }
}

function oldest(threads: readonly ThreadRef[]): ThreadRef | undefined {
  return threads.toSorted(byAge)[0];
}
