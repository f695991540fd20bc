// Binds a session to its conversation: its thread, or the channel itself if the channel talks to it.

import { guaranteeNotes } from '../agents/guarantees.ts';
import { driverOf } from '../agents/list.ts';
import { settingsOf } from '../core/project.ts';
import { untrustedLine } from '../core/untrusted-text.ts';
import { type WelcomeFacts, welcomeText } from '../core/welcome-text.ts';
import { editMessage } from '../discord/messages.ts';
import {
  ensureThread,
  freshThread,
  getChannel,
  getThread,
  type ThreadChannel,
  unarchiveThread,
} from '../discord/threads.ts';
import type { Destination } from './destination.ts';
import { talksInChannel } from './destination.ts';
import { sessionKey, type ThreadRecord } from './registry.ts';
import { likelyAgent, parseStarted } from './remembered-session.ts';
import { isSessionOf, paneOfRecord, titleOf, unreportedSession } from './session-pane.ts';
import type { SessionPane, Threads, ThreadsOptions } from './session-threads.ts';

type BinderOptions = Pick<ThreadsOptions, 'config' | 'connections' | 'isAlive' | 'repositoryAt' | 'log'> &
  Pick<Threads, 'registry' | 'rename' | 'ensure'>;

interface BoundSession {
  readonly session: SessionPane;
  readonly shell: ThreadRecord['shell'];
  /** The agent that has reported from it, if one has. */
  readonly agent: string | undefined;
}

export function createBinder(options: BinderOptions) {
  const { config, connections, registry } = options;

  /** The thread of this session: one that was adopted, one that exists, or a new one. */
  async function threadFor({ session, agent }: BoundSession, to: Destination, place: ThreadChannel, title: string) {
    const known = registry
      .all()
      .filter((one) => one.adopted !== 'no' && !one.deleted && one.title === title && isAt(one, to))
      .find((one) => isSessionOf(session, one, to.project));
    // The end of its last session may not be noted yet.
    const isFree = known?.closed || (known && !(await options.isAlive(known).catch(() => true)));
    const adopted = isFree ? known : undefined;
    const own = adopted && (await getThread(place, adopted.thread, () => true));
    if (own !== undefined) {
      if (own.archived) await unarchiveThread(place.rest, own.id);
      if (own.title !== title && adopted !== undefined) options.rename(adopted, title);
      return own;
    }
    const welcome = welcomeText(welcomeFacts(session, agent));
    const isTaken = await othersThreads(session, title);
    const members = to.server.allow;
    const thread = await ensureThread(place, title, welcome, members, isTaken);
    if (!isTaken(thread.id)) return thread;
    // Discord treats a repeated welcome message within minutes as the same message, and returns its thread.
    return freshThread(place, title, welcome, members, sessionKey(session));
  }

  async function put(bound: BoundSession, to: Destination, inChannel: boolean): Promise<ThreadRecord> {
    const { session, shell } = bound;
    const title = titleOf(session, config);
    const place = await connections.of(to.server).place(to.channel);
    const thread = inChannel
      ? { id: to.channel, lastMessageId: (await getChannel(place.rest, to.channel))?.last_message_id }
      : await threadFor(bound, to, place, title);
    const before = registry.get(thread.id);
    const isSame = before !== undefined && sessionKey(before) === sessionKey(session);
    const record: ThreadRecord = {
      ...unreportedSession(session),
      thread: thread.id,
      server: to.server.name,
      channel: to.channel,
      title,
      inChannel,
      shell,
      // Messages of an older session with this name are not messages of this one.
      last: isSame ? before.last : (thread.lastMessageId ?? thread.id),
      posted: before?.posted ?? [],
      deliveries: before?.deliveries ?? [],
      archived: 'no',
      closed: false,
      ending: false,
      deleted: false,
      stoppedAt: before?.stoppedAt ?? 0,
      toldUnheard: isSame && before.toldUnheard,
      adopted: before?.adopted ?? 'no',
      agent: bound.agent ?? (isSame ? before.agent : likelyAgent(session)),
      ...(isSame ? { told: before.told } : {}),
      settings: isSame ? before.settings : (parseStarted(session.started)?.settings ?? before?.settings),
    };
    registry.put(record);
    learnRepository(place, bound, to, record).catch((error: Error) =>
      options.log.info('completing a welcome', { because: error.message }),
    );
    return record;
  }

  /** Afterwards, because git may be slow. Completes the welcome message, whose id is that of its thread. */
  async function learnRepository(
    place: ThreadChannel,
    { session, agent }: BoundSession,
    to: Destination,
    record: ThreadRecord,
  ): Promise<void> {
    const facts = welcomeFacts(session, agent);
    const repository = await options.repositoryAt(facts.host, facts.cwd);
    const now = registry.get(record.thread);
    if (repository !== undefined && now !== undefined && sessionKey(now) === sessionKey(session)) {
      const { branch, isWorktree } = repository;
      registry.change(record.thread, { told: { ...now.told, branch, isWorktree } });
    }
    if (record.inChannel || record.adopted !== 'no') return;
    // Only our own start has used the settings.
    const isOurs = parseStarted(session.started)?.command.length === 0;
    const settings = isOurs ? settingsOf(to.project, facts.session, record.settings, record.agent) : {};
    const content = welcomeText({ ...facts, settings, repository });
    if (content !== welcomeText(facts)) await editMessage(place.rest, place.channelId, record.thread, { content });
  }

  /** Undefined if another session of this name, on another tmux server, has the channel. */
  async function toChannel(bound: BoundSession, to: Destination): Promise<ThreadRecord | undefined> {
    const { session } = bound;
    const holder = registry.get(to.channel);
    const isOther = holder !== undefined && !holder.closed && sessionKey(holder) !== sessionKey(session);
    if (isOther && (await options.isAlive(holder).catch(() => true))) {
      if (talksInChannel(holder, to.project, config)) return undefined;
      await options.ensure(paneOfRecord(holder), { directory: holder.project || holder.cwd });
    }
    return put(bound, to, true);
  }

  /** Threads whose session still exists, under another name or on another tmux server. */
  async function othersThreads(session: SessionPane, title: string) {
    const own = sessionKey(session);
    const isOther = (one: ThreadRecord) => !one.closed && sessionKey(one) !== own;
    const called = registry.all().filter((one) => one.title === title && isOther(one));
    const alive = await Promise.all(called.map(options.isAlive));
    const gone = called.filter((_, at) => !alive[at]).map(({ thread }) => thread);
    return (id: string) => {
      const one = registry.get(id);
      return one !== undefined && isOther(one) && !gone.includes(id);
    };
  }

  return { toThread: (bound: BoundSession, to: Destination) => put(bound, to, false), toChannel };
}

/** An agent that only its program suggests is not named. */
function welcomeFacts(session: SessionPane, reported: string | undefined): WelcomeFacts {
  const started = parseStarted(session.started);
  const name = reported ?? started?.agent;
  const driver = name === undefined ? undefined : driverOf(name);
  // From an option of the session, which a hostile host can set.
  const weaker = started?.weaker === undefined ? '' : untrustedLine(started.weaker, 500);
  return {
    session: session.group ?? session.sessionName,
    host: session.host,
    cwd: session.path,
    agent: driver && { title: driver.title, notes: guaranteeNotes(driver), weaker },
  };
}

export function isAt({ server, channel }: ThreadRecord, to: Destination): boolean {
  return server === to.server.name && channel === to.channel;
}
