// Finds, creates, renames, moves and archives the threads of sessions. Only this file decides to which thread a session
// belongs.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Config } from '../core/config.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Log } from '../core/log.ts';
import { createProjectList, type Project } from '../core/project.ts';
import { THREAD_ARCHIVED } from '../discord/error-codes.ts';
import { refusedWith } from '../discord/messages.ts';
import { archiveThread, renameThread, unarchiveThread } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import type { Repository } from '../hosts/repository.ts';
import type { CurrentPane } from '../tmux/pane.ts';
import { createBinder, isAt } from './bind-session.ts';
import type { Connections } from './connections.ts';
import {
  type Destination,
  projectOfPlace,
  type SessionPlace,
  type Talk,
  talkOf,
  talksInChannel,
} from './destination.ts';
import { postNotice } from './notices.ts';
import { openRegistry, type Registry, sessionKey, type ThreadRecord } from './registry.ts';
import { titleOf } from './session-pane.ts';

/** A session and one of its panes. */
export interface SessionPane extends CurrentPane {
  readonly host: string;
}

export interface Threads {
  readonly registry: Registry;
  readonly connections: Connections;
  /** Undefined if sessions in this directory get no thread. */
  destinationOf(place: SessionPlace): Destination | undefined;
  /** Those of all servers. */
  projects(): readonly Project[];
  /** The session that a channel talks to. */
  talkIn(channel: string): Talk | undefined;
  /** Finds or creates the session's thread; undefined if it gets none. `gone` is a thread that was deleted. */
  ensure(
    session: SessionPane,
    options: {
      readonly directory: string;
      readonly shell?: ThreadRecord['shell'];
      /** The agent that has reported from it. */
      readonly agent?: string | undefined;
      readonly gone?: string;
    },
  ): Promise<ThreadRecord | undefined>;
  /** In the background, because Discord allows two renames per ten minutes. */
  rename(record: ThreadRecord, title: string): void;
  /** Posts that the session has another thread now, and archives this one, unless it is a channel. */
  moveAway(old: ThreadRecord, to: ThreadRecord): Promise<void>;
  /** Archived by us, because a command asked for it, or because this session has `ended`: not if another one runs there by now. */
  archive(thread: string, options?: { readonly ended?: ThreadRecord }): Promise<void>;
  /** A command said so. */
  reopen(thread: string): Promise<void>;
  /** The gateway reported that a thread was archived or reopened. */
  heard(thread: string, archived: boolean): void;
  /** All open threads of these channels; the others were archived while we were not connected. */
  heardActive(channels: readonly string[], open: ReadonlySet<string>): Promise<void>;
}

export interface ThreadsOptions {
  readonly home: Home;
  readonly config: Config;
  readonly connections: Connections;
  readonly log: Log;
  /** Whether the session of a record is still there. */
  readonly isAlive: (record: ThreadRecord) => Promise<boolean>;
  /** The user's home directory on a host; undefined if the host was never reached. */
  readonly userHome: (host: string) => string | undefined;
  readonly repositoryAt: (host: string, directory: string) => Promise<Repository | undefined>;
  /** The directory from which a worktree was made; any other directory as it is. */
  readonly originOf: (place: SessionPlace) => SessionPlace;
}

const RENAME_AGAIN_MS = 600_000;
/** Records that are written in one turn. */
const AT_ONCE = 20;

export function openThreads(options: ThreadsOptions): Threads {
  const { home, config, connections, log } = options;
  const registry = openRegistry(home);
  const opening = createKeyedQueue();
  const renames = new Map<string, { readonly title: string; readonly at: number }>();

  const allServers = () => connections.all().map(({ server }) => server);
  const projects = createProjectList(config, allServers);

  function toDestination(session: SessionPlace): Destination | undefined {
    const place = options.originOf(session);
    const absolute = (path: string, host: string) =>
      path.replace(/^~(?=\/|$)/, (tilde) => options.userHome(host) ?? tilde);
    const at = { host: place.host, directory: absolute(place.directory, place.host) };
    const project = projectOfPlace(at, projects(), absolute);
    const server = project && connections.named(project.server)?.server;
    return project && server && { server, channel: project.channel, project };
  }

  function rename({ thread, server, inChannel, adopted }: ThreadRecord, title: string): void {
    if (inChannel) return void registry.change(thread, { title });
    const tried = renames.get(thread);
    if (tried?.title === title && Date.now() - tried.at < RENAME_AGAIN_MS) return;
    renames.set(thread, { title, at: Date.now() });
    const rest = connections.named(server)?.rest;
    if (rest === undefined) return;
    renameThread(rest, thread, title)
      .then(() => registry.change(thread, { title, ...(adopted === 'yes' ? { adopted: 'named' } : {}) }))
      .catch((error: Error) => {
        if (refusedWith(error, THREAD_ARCHIVED)) mark(thread, true);
        else log.warn('renaming a thread', { title, because: error.message });
      });
  }

  async function moveAway(old: ThreadRecord, to: ThreadRecord): Promise<void> {
    const where = old.server === to.server ? `in <#${to.thread}>` : 'on another server';
    await leave(old, `➡️ This session continues ${where}.`);
    registry.change(old.thread, { closed: true });
  }

  async function leave({ thread, server, deleted, inChannel }: ThreadRecord, content: string): Promise<void> {
    const rest = connections.named(server)?.rest;
    if (!inChannel) registry.change(thread, { archived: 'us' });
    if (rest === undefined || deleted) return;
    await postNotice(rest, thread, [thread, 'left', content], { content, silent: true });
    if (!inChannel) await archiveThread(rest, thread);
  }

  /** The directory belongs to no project, and all servers accept only projects: closes the thread that the session had. */
  async function toNowhere(known: ThreadRecord): Promise<void> {
    if (connections.named(known.server) === undefined) return;
    registry.change(known.thread, { server: '', channel: '' });
    await leave(known, '⏹️ Messages of this session are no longer posted, because its directory belongs to no project.');
  }

  /** What is heard of a thread while a list of all open threads is worked through is newer than the list. */
  const passes = new Set<Set<string>>();
  function mark(thread: string, archived: boolean): void {
    const record = registry.get(thread);
    if (record === undefined || record.inChannel) return;
    if (archived && record.archived === 'no') registry.change(thread, { archived: 'person' });
    if (!archived && record.archived !== 'no') registry.change(thread, { archived: 'no' });
  }

  const bind = createBinder({
    config,
    connections,
    registry,
    rename,
    log,
    isAlive: options.isAlive,
    repositoryAt: options.repositoryAt,
    ensure: (...one) => ensure(...one),
  });

  const ensure: Threads['ensure'] = (session, { directory, shell = 'found', agent, gone }) => {
    const key = `${session.host} ${sessionKey(session)}`;
    // Two panes of one session must not both create its thread.
    return opening(key, async () => {
      const to = toDestination({ host: session.host, directory });
      const known = registry.ofSession(session.host, session);
      const failed = (error: Error) => log.warn('leaving a thread', { because: error.message });
      if (to === undefined) {
        if (known !== undefined) await toNowhere(known).catch(failed);
        return undefined;
      }
      const talks = talksInChannel(session, to.project, config);
      const isThere = known !== undefined && known.thread !== gone && !known.deleted;
      const isPlaced = known !== undefined && isAt(known, to);
      if (isThere && (isPlaced ? known.inChannel === talks : isOfOtherPane(known, session))) {
        const title = titleOf(session, config);
        // Renaming would reopen the thread, so it waits until the thread is open.
        if (known.title !== title && known.archived === 'no') rename(known, title);
        return known;
      }
      const bound = { session, shell, agent };
      const talking = talks ? await opening(`${to.channel} talk`, () => bind.toChannel(bound, to)) : undefined;
      if (talking === undefined && isThere && isPlaced && !known.inChannel) return known;
      const own = () => opening(`${to.channel} ${session.sessionName}`, () => bind.toThread(bound, to));
      const record = talking ?? (await own());
      if (known !== undefined && known.thread !== record.thread) {
        if (isThere) await moveAway(known, record).catch(failed);
        else registry.forget(known.thread);
      }
      return record;
    });
  };

  return {
    registry,
    connections,
    destinationOf: toDestination,
    projects,
    talkIn: (channel) => talkOf(channel, projects(), config),
    ensure,
    rename,
    moveAway,
    async archive(thread, { ended } = {}) {
      const now = registry.get(thread);
      if (ended !== undefined && now !== undefined && sessionKey(now) !== sessionKey(ended)) return;
      const inChannel = now?.inChannel;
      const archived = inChannel ? {} : ({ archived: 'us' } as const);
      const record = registry.change(thread, { ...archived, ...(ended ? { closed: true, ending: true } : {}) });
      const rest = record && !inChannel ? connections.named(record.server)?.rest : undefined;
      if (rest !== undefined) await archiveThread(rest, thread);
      registry.change(thread, { ending: false });
    },
    async reopen(thread) {
      const record = registry.change(thread, { archived: 'no' });
      const rest = record && !record.inChannel ? connections.named(record.server)?.rest : undefined;
      if (rest !== undefined) await unarchiveThread(rest, thread);
    },
    heard(thread, archived) {
      for (const later of passes) later.add(thread);
      mark(thread, archived);
    },
    async heardActive(channels, open) {
      const later = new Set<string>();
      passes.add(later);
      let changes = 0;
      for (const { thread, archived } of registry.all().filter((one) => channels.includes(one.channel))) {
        if (open.has(thread) === (archived === 'no') || later.has(thread)) continue;
        mark(thread, !open.has(thread));
        // Each is written to the disk: thousands of them would stop everything else for seconds.
        if (++changes % AT_ONCE === 0) await nextTurn();
      }
      passes.delete(later);
    },
  };
}

/** Two agents in one session share a thread: it stays where the first one is. */
function isOfOtherPane({ posted }: ThreadRecord, { paneId }: SessionPane): boolean {
  return posted.some(({ pane }) => pane !== paneId);
}
