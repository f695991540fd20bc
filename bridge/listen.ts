// Takes messages from the gateway into the inbox. Every message of our threads and channels, live or missed, is
// accepted once, in order, and is on disk before anything is done with it.

import type { ServerConfig } from '../core/config.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Log } from '../core/log.ts';
import type { TextMeaning, WrittenText } from '../core/prompt-answer.ts';
import { keepTrying } from '../core/retry-with-pauses.ts';
import { isDiscordId, isNewer, snowflakeTime } from '../core/snowflake.ts';
import { UNKNOWN_CHANNEL } from '../discord/error-codes.ts';
import { messagesAfter, refusedWith } from '../discord/messages.ts';
import {
  channelSchema,
  type DiscordMessage,
  guildCreateSchema,
  isWritten,
  messageSchema,
  readySchema,
  repliedToOf,
} from '../discord/payloads.ts';
import { CONTENT_HINT, looksEmptied, mayReadContent } from '../discord/permissions.ts';
import { PAUSES } from '../discord/response.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { KnownThreads } from '../threads/connections.ts';
import type { ThreadAdoption } from './adopt-threads.ts';
import { type AcceptedMessage, type Cursors, type Inbox, isFresh } from './inbox.ts';
import { type RouteAction, type RouteContext, route } from './route.ts';

interface ListenOptions {
  readonly server: ServerConfig;
  readonly rest: Rest;
  readonly channels: readonly string[];
  readonly threads: KnownThreads;
  readonly cursors: Cursors;
  readonly inbox: Inbox;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** A message was accepted: it is in the inbox and has to be acted on. */
  readonly onAccepted: (message: AcceptedMessage, todo: RouteAction) => void;
  /** A listed user wrote plain text in a channel. */
  readonly onTalk?: (message: DiscordMessage) => void;
  readonly onInteraction?: (data: unknown, liveAt: number | undefined) => Promise<void> | void;
  /** What a text means while a prompt is open. */
  readonly meaningOf: (written: Omit<WrittenText, 'afterAnother' | 'changed'> & HeardText) => TextMeaning;
  readonly onThread?: (thread: ThreadRef, isLive: boolean) => void;
  /** Threads that users create by hand. */
  readonly adoption?: Pick<ThreadAdoption, 'heard' | 'heardAll' | 'readFirst'>;
  /** All threads of the guild that are open. */
  readonly onActive?: (ids: ReadonlySet<string>, guild: string) => void;
  readonly onThreadGone?: (id: string) => void;
}

interface HeardText {
  readonly channelId: string;
  readonly authorId: string;
  readonly liveAt: number | undefined;
}

/** What the gateway calls with every event. */
export function listen(options: ListenOptions): (name: string, data: unknown, live?: boolean) => Promise<void> {
  const { rest, channels, threads, cursors, inbox, log } = options;
  const inTurn = createKeyedQueue();
  const ignored: Record<string, number> = {};
  let warned = false;

  async function accept(message: DiscordMessage, liveAt?: number): Promise<void> {
    if (cursors.isRead(message.channel_id, message.id)) return;
    const where = await whereIs(message.channel_id, threads, channels);
    if (where === 'elsewhere') return;
    warnIfEmptied(message);
    const decision = route(incomingOf(message), where, options.server);
    if (decision.kind === 'ignore') {
      if (decision.because === 'talk') options.onTalk?.(message);
      ignored[decision.because] = (ignored[decision.because] ?? 0) + 1;
      if (!['bot', 'system', 'talk'].includes(decision.because))
        log.info('ignored', {
          because: decision.because,
          channel: message.channel_id,
          times: ignored[decision.because],
        });
      return cursors.advance(message.channel_id, message.id);
    }
    const accepted = {
      ...acceptedOf(message),
      ...(liveAt === undefined ? {} : { liveAt }),
      ...(decision.kind === 'forward' ? answersOf(message, decision.text, liveAt) : {}),
    };
    if (inbox.take(accepted)) options.onAccepted(accepted, decision);
  }

  function answersOf(message: DiscordMessage, text: string, liveAt: number | undefined) {
    if (text === '' || message.attachments.length > 0) return {};
    const meaning = options.meaningOf({
      id: message.id,
      channelId: message.channel_id,
      authorId: message.author.id,
      text,
      liveAt,
      repliedTo: repliedToOf(message),
      live: isFresh(liveAt, performance.now()),
    });
    if (meaning.kind === 'message') return {};
    return { answers: meaning.kind === 'answer' ? meaning.prompt : ('unclear' as const) };
  }

  /** Reads the messages that were missed, before any new one. */
  async function catchUp(channelId: string): Promise<void> {
    try {
      const missed = await messagesAfter(rest, channelId, cursors.get(channelId));
      if (missed.length > 0) log.info('caught up', { channel: channelId, messages: missed.length });
      for (const message of missed) await accept(message);
    } catch (error) {
      if (!refusedWith(error, UNKNOWN_CHANNEL)) throw error;
      threads.forget(channelId);
      cursors.forget(channelId);
      options.onThreadGone?.(channelId);
    }
  }

  async function onGuild(data: unknown): Promise<void> {
    const guild = guildCreateSchema.parse(data);
    const last = new Map<string, string>();
    const unread = options.adoption?.heardAll(guild.threads) ?? [];
    for (const thread of guild.threads) threads.hear({ ...thread, guild_id: guild.id });
    for (const id of unread) void readFirst(id); // before its messages: they wait in the same queue
    options.onActive?.(new Set(guild.threads.map(({ id }) => id)), guild.id);
    for (const { id, last_message_id } of [...guild.threads, ...guild.channels])
      if (last_message_id) last.set(id, last_message_id);
    const ours = [...channels.filter((id) => last.has(id)), ...threads.all().map(({ id }) => id)];
    cursors.sweep(); // each of the others is read now
    // Known threads that are not active may have been archived since.
    const away = cursors.channels().filter((id) => !last.has(id) && !ours.includes(id));
    const behind = ours.filter((id) => isNewer(last.get(id) ?? '0', cursors.get(id)));
    await Promise.all([...behind, ...away].map((id) => inTurn(id, () => insist(() => catchUp(id)))));
  }

  const readFirst = (id: string) => inTurn(id, () => insist(async () => options.adoption?.readFirst(id)));

  /** A message that cannot be stored now (no network, full disk) holds up the later ones. */
  const insist = (act: () => Promise<void>) =>
    keepTrying(act, {
      ...PAUSES,
      signal: options.signal,
      onFailure(error, failures) {
        if (!passes(error)) throw error;
        log.warn('taking a message', { failures, because: (error as Error).message });
      },
    });

  function warnIfEmptied(message: DiscordMessage): void {
    if (warned || !looksEmptied(message)) return;
    warned = true;
    log.error('messages arrive empty', { hint: CONTENT_HINT });
  }

  /** A slow network may deliver it long after it was written, and a stopped process reads it long after it arrived. */
  function writtenAt(data: unknown): number | undefined {
    const { id = '' } = identified.safeParse(data).data ?? {};
    if (!isDiscordId(id)) return undefined;
    return performance.now() - Math.max(0, rest.serverTime() - snowflakeTime(id));
  }

  return async (name, data, live = false) => {
    const isWritten = name === 'MESSAGE_CREATE' || name === 'INTERACTION_CREATE';
    const liveAt = live && isWritten ? writtenAt(data) : undefined;
    switch (name) {
      case 'READY': {
        const { application } = readySchema.parse(data);
        if (!mayReadContent(application.flags)) log.warn('message content is off', { hint: CONTENT_HINT });
        return;
      }
      case 'GUILD_CREATE':
        return onGuild(data);
      case 'THREAD_CREATE':
      case 'THREAD_UPDATE': {
        const told = channelSchema.safeParse(data).data;
        const isUnread = told !== undefined && options.adoption?.heard(told);
        const thread = threads.hear(data);
        if (thread !== undefined) options.onThread?.(thread, live);
        return isUnread ? readFirst(told.id) : undefined;
      }
      case 'THREAD_DELETE': {
        const { id } = identified.parse(data);
        threads.forget(id);
        cursors.forget(id);
        return options.onThreadGone?.(id);
      }
      case 'MESSAGE_CREATE': {
        const message = messageSchema.parse(data);
        return inTurn(message.channel_id, () => insist(() => accept(message, liveAt)));
      }
      case 'INTERACTION_CREATE':
        return options.onInteraction?.(data, liveAt);
    }
  };
}

/** A channel that talks to a session is like a thread. */
export async function whereIs(
  id: string,
  known: Pick<KnownThreads, 'find'>,
  channels: readonly string[],
): Promise<RouteContext> {
  if ((await known.find(id)) !== undefined) return 'thread';
  return channels.includes(id) ? 'channel' : 'elsewhere';
}

const identified = messageSchema.pick({ id: true });

/** Network and disk errors are temporary; bugs are not. */
function passes(error: unknown): boolean {
  return isThreadmuxError(error, 'discord_unreachable') || (error as NodeJS.ErrnoException).syscall !== undefined;
}

export function incomingOf(message: DiscordMessage) {
  return {
    id: message.id,
    channelId: message.channel_id,
    authorId: message.author.id,
    fromBot: message.author.bot,
    fromWebhook: message.webhook_id !== undefined,
    written: isWritten(message),
    text: message.content,
    attachments: message.attachments.length,
  };
}

export function acceptedOf(message: DiscordMessage): AcceptedMessage {
  const repliedTo = repliedToOf(message);
  return {
    id: message.id,
    channelId: message.channel_id,
    authorId: message.author.id,
    author: message.author.username,
    text: message.content,
    ...(repliedTo === undefined ? {} : { repliedTo }),
    attachments: message.attachments.map(({ id, filename, size, url }) => ({ id, filename, size, url })),
  };
}
