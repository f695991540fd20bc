// Finds, creates, renames, moves and archives the threads of sessions. Only this file decides to which thread a session
// belongs.

import type { Config } from '../core/config.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Log } from '../core/log.ts';
import { projectsOf, settingsOf } from '../core/project.ts';
import { threadTitle } from '../core/session-name.ts';
import { type WelcomeFacts, welcomeText } from '../core/welcome-text.ts';
import { editMessage } from '../discord/messages.ts';
import {
  archiveThread,
  ensureThread,
  freshThread,
  renameThread,
  type ThreadChannel,
  unarchiveThread,
} from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import type { Repository } from '../hosts/repository.ts';
import type { CurrentPane } from '../tmux/pane.ts';
import type { Connections } from './connections.ts';
import { type Destination, projectOfPlace, type SessionPlace } from './destination.ts';
import { postNotice } from './notices.ts';
import { openRegistry, type Registry, sessionKey, type ThreadRecord } from './registry.ts';
import { parseStarted } from './remembered-session.ts';

/** A session and one of its panes. */
export interface SessionPane extends CurrentPane {
  readonly host: string;
}

export interface Threads {
  readonly registry: Registry;
  readonly connections: Connections;
  /** Undefined if sessions in this directory get no thread. */
  destinationOf(place: SessionPlace): Destination | undefined;
  /** Finds or creates the session's thread; undefined if it gets none. `gone` is a thread that was deleted. */
  ensure(
    session: SessionPane,
    options: {
      readonly directory: string;
      readonly shell?: ThreadRecord['shell'];
      readonly gone?: string;
    },
  ): Promise<ThreadRecord | undefined>;
  /** In the background, because Discord allows two renames per ten minutes. */
  rename(record: ThreadRecord, title: string): void;
  /** Posts that the session has another thread now, and archives this one. */
  moveAway(old: ThreadRecord, to: ThreadRecord): Promise<void>;
  /** Archived by us: the session has ended, or a command asked for it. */
  archive(thread: string, options?: { readonly closed?: boolean }): Promise<void>;
  /** A command said so. */
  reopen(thread: string): Promise<void>;
  /** The gateway reported that a thread was archived or reopened. */
  heard(thread: string, archived: boolean): void;
  /** All open threads of this server; the others were archived while we were not connected. */
  heardActive(server: string, open: ReadonlySet<string>): void;
}

interface ThreadsOptions {
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

export function openThreads(options: ThreadsOptions): Threads {
  const { home, config, connections, log } = options;
  const registry = openRegistry(home);
  const opening = createKeyedQueue();
  const renames = new Map<string, { readonly title: string; readonly at: number }>();

  function toDestination(session: SessionPlace): Destination | undefined {
    const place = options.originOf(session);
    const servers = connections.all().map(({ server }) => server);
    const absolute = (path: string, host: string) =>
      path.replace(/^~(?=\/|$)/, (tilde) => options.userHome(host) ?? tilde);
    const at = { host: place.host, directory: absolute(place.directory, place.host) };
    const project = projectOfPlace(at, projectsOf(config, servers), absolute);
    const server = servers.find(({ name }) => name === project?.server);
    return project && server && { server, channel: project.channel, project };
  }

  function rename({ thread, server }: ThreadRecord, title: string): void {
    const tried = renames.get(thread);
    if (tried?.title === title && Date.now() - tried.at < RENAME_AGAIN_MS) return;
    renames.set(thread, { title, at: Date.now() });
    const rest = connections.named(server)?.rest;
    if (rest === undefined) return;
    renameThread(rest, thread, title)
      .then(() => registry.change(thread, { title }))
      .catch((error: Error) => log.warn('renaming a thread', { title, because: error.message }));
  }

  async function bind(session: SessionPane, to: Destination, shell: ThreadRecord['shell']): Promise<ThreadRecord> {
    const title = titleOf(session, config);
    const place = await connections.of(to.server).place(to.channel);
    const label = session.group ?? session.sessionName;
    const facts = { session: label, host: session.host, cwd: session.path };
    const welcome = welcomeText(facts);
    const isTaken = await othersThreads(session, title);
    const members = to.server.allow;
    let thread = await ensureThread(place, title, welcome, members, isTaken);
    // Discord treats a repeated welcome message within minutes as the same message, and returns its thread.
    if (isTaken(thread.id)) thread = await freshThread(place, title, welcome, members, sessionKey(session));
    const before = registry.get(thread.id);
    const isSame = before !== undefined && sessionKey(before) === sessionKey(session);
    const { path, ...pane } = session;
    const record: ThreadRecord = {
      ...pane,
      ...{ thread: thread.id, server: to.server.name, channel: to.channel, title, cwd: path },
      ...{ project: '', claudeSession: '', transcript: '', state: 'idle', shell, at: Date.now() },
      // Messages of an older session with this name are not messages of this one.
      last: isSame ? before.last : (thread.lastMessageId ?? thread.id),
      ...{ posted: before?.posted ?? [], deliveries: before?.deliveries ?? [] },
      ...{ archived: 'no', closed: false, deleted: false, stoppedAt: before?.stoppedAt ?? 0 },
      toldUnheard: isSame && before.toldUnheard,
      settings: isSame ? before.settings : (parseStarted(session.started)?.settings ?? before?.settings),
    };
    registry.put(record);
    // Only our own start has used the settings.
    const isOurs = parseStarted(session.started)?.command.length === 0;
    const settings = isOurs ? settingsOf(to.project, label, record.settings) : {};
    completeWelcome(place, record.thread, { ...facts, settings }).catch((error: Error) =>
      log.info('completing a welcome', { because: error.message }),
    );
    return record;
  }

  /** Afterwards, because git may be slow. A thread has the id of its welcome message. */
  async function completeWelcome(place: ThreadChannel, thread: string, facts: WelcomeFacts): Promise<void> {
    const repository = await options.repositoryAt(facts.host, facts.cwd);
    const content = welcomeText({ ...facts, repository });
    if (content !== welcomeText({ ...facts, settings: {} }))
      await editMessage(place.rest, place.channelId, thread, { content });
  }

  /** Threads whose session still exists, under another name or on another tmux server. */
  async function othersThreads(session: SessionPane, title: string) {
    const others = registry.all().filter((one) => !one.closed && sessionKey(one) !== sessionKey(session));
    const called = others.filter((one) => one.title === title);
    const alive = await Promise.all(called.map(options.isAlive));
    const gone = called.filter((_, at) => !alive[at]).map(({ thread }) => thread);
    const taken = new Set(others.map(({ thread }) => thread).filter((id) => !gone.includes(id)));
    return (id: string) => taken.has(id);
  }

  async function moveAway(old: ThreadRecord, to: ThreadRecord): Promise<void> {
    const where = old.server === to.server ? `in <#${to.thread}>` : 'on another server';
    await leave(old, `➡️ This session continues ${where}.`);
    registry.change(old.thread, { closed: true });
  }

  async function leave({ thread, server, deleted }: ThreadRecord, content: string): Promise<void> {
    const rest = connections.named(server)?.rest;
    registry.change(thread, { archived: 'us' });
    if (rest === undefined || deleted) return;
    await postNotice(rest, thread, [thread, 'left', content], { content, silent: true });
    await archiveThread(rest, thread);
  }

  /** The directory belongs to no project, and all servers accept only projects: closes the thread that the session had. */
  async function toNowhere(known: ThreadRecord): Promise<void> {
    if (connections.named(known.server) === undefined) return;
    registry.change(known.thread, { server: '', channel: '' });
    await leave(known, '⏹️ Messages of this session are no longer posted, because its directory belongs to no project.');
  }

  return {
    registry,
    connections,
    destinationOf: toDestination,
    ensure(session, { directory, shell = 'found', gone }) {
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
        const isThere = known !== undefined && known.thread !== gone && !known.deleted;
        const isPlaced = known?.server === to.server.name && known.channel === to.channel;
        if (isThere && (isPlaced || isOfOtherPane(known, session))) {
          const title = titleOf(session, config);
          // Renaming would reopen the thread, so it waits until the thread is open.
          if (known.title !== title && known.archived === 'no') rename(known, title);
          return known;
        }
        const record = await opening(`${to.channel} ${session.sessionName}`, () => bind(session, to, shell));
        if (known !== undefined && known.thread !== record.thread) {
          if (isThere) await moveAway(known, record).catch(failed);
          else registry.forget(known.thread);
        }
        return record;
      });
    },
    rename,
    moveAway,
    async archive(thread, { closed = false } = {}) {
      const record = registry.change(thread, { archived: 'us', ...(closed ? { closed } : {}) });
      const rest = record && connections.named(record.server)?.rest;
      if (rest !== undefined) await archiveThread(rest, thread);
    },
    async reopen(thread) {
      const record = registry.change(thread, { archived: 'no' });
      const rest = record && connections.named(record.server)?.rest;
      if (rest !== undefined) await unarchiveThread(rest, thread);
    },
    heard(thread, archived) {
      const record = registry.get(thread);
      if (record === undefined) return;
      if (archived && record.archived === 'no') registry.change(thread, { archived: 'person' });
      if (!archived && record.archived !== 'no') registry.change(thread, { archived: 'no' });
    },
    heardActive(server, open) {
      for (const { thread, archived } of registry.all().filter((one) => one.server === server))
        if (open.has(thread) !== (archived === 'no')) this.heard(thread, !open.has(thread));
    },
  };
}

/** Two agents in one session share a thread: it stays where the first one is. */
function isOfOtherPane({ posted }: ThreadRecord, { paneId }: SessionPane): boolean {
  return posted.some(({ pane }) => pane !== paneId);
}

export function titleOf(
  { host, group, sessionName }: Pick<SessionPane, 'host' | 'group' | 'sessionName'>,
  { defaultHost }: Pick<Config, 'defaultHost'>,
): string {
  const session = group ?? sessionName;
  return threadTitle(host === defaultHost ? { session } : { session, host });
}
