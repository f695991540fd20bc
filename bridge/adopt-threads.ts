// A thread that a listed user creates by hand gets a session (`threadsStart`). The registry's record is written first and says
// how far we are; the session starts with the first message, like in a channel that talks to one. So a crash at any step
// neither starts two sessions nor loses the message.

import * as z from 'zod';
import { isThreadmuxError } from '../core/errors.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import { MISSING_ACCESS, UNKNOWN_MESSAGE } from '../discord/error-codes.ts';
import { getMessage, refusedWith } from '../discord/messages.ts';
import type { DiscordChannel, DiscordMessage } from '../discord/payloads.ts';
import { addThreadMember, getChannel } from '../discord/threads.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import { type ThreadRecord, threadRecordSchema } from '../threads/registry.ts';
import { titleOf } from '../threads/session-pane.ts';
import { configuredNames, newName, projectFor } from './adopted-name.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AcceptedMessage } from './inbox.ts';
import { acceptedOf, incomingOf } from './listen.ts';
import { type RouteAction, route } from './route.ts';

export interface ThreadAdoption {
  /** Adopts it if it is new. True if its first message has to be read. */
  heard(thread: DiscordChannel): boolean;
  /** All open threads, after connecting: those that were created since we last saw one are new. */
  heardAll(threads: readonly DiscordChannel[]): readonly string[];
  /** The message that the thread was created from is the first one of its session. */
  readFirst(thread: string): Promise<void>;
  /** Continues where an earlier process stopped; before the inbox is read. */
  takeUp(): Promise<void>;
}

interface AdoptionOptions extends ServerParts {
  /** Where the time of the newest thread is stored. */
  readonly path: string;
  readonly begin: (message: AcceptedMessage, todo: RouteAction) => void;
}

const PUBLIC_THREAD = 11;
const seenSchema = z.object({ until: z.number() });

export function createThreadAdoption(options: AdoptionOptions): ThreadAdoption {
  const { rest, server, config, threads, inbox, path } = options;
  const { registry } = threads;
  let until = readJson(path, seenSchema)?.until;
  if (until === undefined) see(rest.serverTime());

  function see(at: number): void {
    if (Number.isNaN(at) || (until !== undefined && at <= until)) return;
    until = at;
    writeBestEffort(path, { until });
  }

  const isUnread = (thread: string) => registry.get(thread)?.adopted === 'new';

  function claim(thread: DiscordChannel): void {
    const { id, parent_id: channel, owner_id: owner = '', name: title, thread_metadata: metadata } = thread;
    if (thread.type !== PUBLIC_THREAD || !channel || metadata === undefined || metadata.archived) return;
    if (!server.allow.includes(owner) || registry.get(id) !== undefined) return;
    const ours = threads.projects().filter((one) => one.server === server.name);
    const project = projectFor({ channel, title: title ?? '' }, ours);
    if (project === undefined) return;
    const host = project.host ?? config.defaultHost;
    const sessionName = newName(title ?? '', host, registry.all(), configuredNames(threads.projects()));
    const record: ThreadRecord = threadRecordSchema.parse({
      thread: id,
      server: server.name,
      channel,
      host,
      sessionName,
      adopted: 'new',
      closed: true,
      last: id,
      title: titleOf({ host, sessionName, group: undefined }, config),
      socket: '',
      serverPid: 0,
      paneId: '',
      panePid: 0,
      sessionId: '',
      command: '',
      project: project.path,
      cwd: project.path || '~',
      claudeSession: '',
      transcript: '',
      state: 'ended',
      at: Date.now(),
    });
    registry.put(record);
  }

  /** Undefined if it was deleted, or never was one. */
  function firstMessage(channel: string, thread: string): Promise<DiscordMessage | undefined> {
    return getMessage(rest, channel, thread).catch((error: unknown) => {
      if (refusedWith(error, UNKNOWN_MESSAGE, MISSING_ACCESS)) return undefined;
      throw error;
    });
  }

  async function first(record: ThreadRecord): Promise<void> {
    const { thread, channel } = record;
    const [made, message] = await Promise.all([getChannel(rest, thread), firstMessage(channel, thread)]);
    const settled = { adopted: 'yes', deleted: made === undefined } as const;
    const todo = message && route(incomingOf(message), 'thread', server);
    const isWaiting = inbox.left().some(({ id }) => id === thread);
    if (made === undefined || message === undefined || todo?.kind !== 'forward' || isWaiting)
      return void registry.change(thread, settled);
    // Older than all messages in the thread, and not as old as a message that somebody created a thread from much later.
    const deliveryId = snowflakeAt(createdAt(made));
    const accepted: AcceptedMessage = { ...acceptedOf(message), into: thread, deliveryId };
    inbox.put(accepted);
    registry.change(thread, settled);
    options.begin(accepted, todo);
  }

  async function readFirst(thread: string): Promise<void> {
    const record = registry.get(thread);
    if (record?.adopted !== 'new') return;
    await first(record);
    await addThreadMember(rest, thread, '@me');
  }

  return {
    heard(thread) {
      if (thread.newly_created) claim(thread);
      if (thread.thread_metadata !== undefined) see(createdAt(thread));
      return isUnread(thread.id);
    },
    heardAll(all) {
      const since = until ?? 0;
      const oldestFirst = all.filter((one) => one.thread_metadata).toSorted((a, b) => createdAt(a) - createdAt(b));
      for (const thread of oldestFirst) {
        if (createdAt(thread) > since) claim(thread);
        see(createdAt(thread));
      }
      return oldestFirst.map(({ id }) => id).filter(isUnread);
    },
    readFirst,
    async takeUp() {
      const mine = registry.all().filter((one) => one.server === server.name);
      // A thread without access, or one that was archived meanwhile, must not stop the start.
      for (const { thread } of mine)
        await readFirst(thread).catch((error: unknown) => {
          if (!isThreadmuxError(error, 'discord_refused')) throw error;
        });
      for (const one of mine) if (one.adopted === 'yes' && !one.closed) threads.rename(one, one.title);
    },
  };
}

function createdAt({ thread_metadata: metadata }: DiscordChannel): number {
  return Date.parse(metadata?.create_timestamp ?? metadata?.archive_timestamp ?? '');
}
