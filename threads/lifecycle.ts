// Keeps threads up to date with tmux sessions that users create, rename and close, on all hosts. Runs when tmux reports
// a change, at start, and every few minutes, because a report can get lost.

import { mkdirSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createNextRun } from '../core/keyed-queue.ts';
import { keepTrying } from '../core/retry-with-pauses.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { archiveThread } from '../discord/threads.ts';
import { tryBestEffort } from '../home/atomic-write.ts';
import { loadAutoThreads } from '../home/installed.ts';
import { loadStreamRecords } from '../home/stream-record.ts';
import { watchFolder } from '../home/watch-folder.ts';
import { stopKeepingAll } from '../tmux/sessions.ts';
import type { KnownThreads } from './connections.ts';
import { talksInChannel } from './destination.ts';
import { createEndFinisher, endedNotice } from './ended-notice.ts';
import { postNotice } from './notices.ts';
import { sessionPanes } from './panes.ts';
import { reconcile, type ThreadChange } from './reconcile.ts';
import { sessionKey } from './registry.ts';
import { unreportedSession } from './session-pane.ts';
import type { Shared } from './shared-services.ts';

interface LifecycleOptions extends Pick<Shared, 'home' | 'config' | 'hosts' | 'threads' | 'log' | 'sessionsChanged'> {
  /** The open threads that the gateway reported, per server. */
  readonly known: readonly KnownThreads[];
  /** How long a session may take to start. */
  readonly startsMs?: number | undefined;
}

const EVERY_MS = 3 * 60_000;
const DEADLINE_MS = 10_000;
const STARTS_MS = 30_000;
/** tmux reports several events when a session is created. */
const SETTLE_MS = 300;
/** How often to look if the system cannot watch the folder. */
const UNWATCHED_MS = 2_000;

const YOUNG_MS = 60_000;
const LEFT = '➡️ This session no longer uses this thread.';

export function startLifecycle(options: LifecycleOptions) {
  const { home, config, hosts, threads, log } = options;
  const { registry, connections } = threads;
  const hints = join(home.folder('state'), 'tmux-events');
  tryBestEffort(hints, () => mkdirSync(hints, { recursive: true, mode: 0o700 }));
  const startsMs = options.startsMs ?? STARTS_MS;
  const closing = new AbortController();
  const finishEnds = createEndFinisher(options);
  const nextRun = createNextRun<void>();
  let due: NodeJS.Timeout | undefined;

  async function onHost(host: string): Promise<void> {
    const records = registry.all().filter((one) => one.host === host && !one.closed && one.shell !== 'terminal');
    // If the host is unreachable, this rejects and nothing is closed.
    const sessions = await sessionPanes(hosts, host, records, DEADLINE_MS);
    const strays = options.known
      .flatMap((known) => known.all())
      .filter(({ id, archived }) => !archived && registry.get(id) === undefined);
    const streams = loadStreamRecords(home).map(({ name }) => `^${name}$`);
    const changes = reconcile({
      host,
      defaultHost: config.defaultHost,
      sessions,
      records,
      strays,
      channelOf: ({ path }) => threads.destinationOf({ host, directory: path })?.channel,
      isMisplaced(session, { project, server, channel, inChannel }) {
        const to = threads.destinationOf({ host, directory: project || session.path });
        const isPlaced = to?.server.name === server && to.channel === channel;
        return isPlaced && talksInChannel(session, to.project, config) !== inChannel;
      },
      ignore: [...config.ignoreSessions, ...streams],
      auto: hosts.isLocal(host) ? loadAutoThreads(home) : loadAutoThreads(home, host),
    });
    for (const change of changes) await apply(change);
  }

  async function apply(change: ThreadChange): Promise<void> {
    log.info('lifecycle', { do: change.do, what: nameOf(change) });
    switch (change.do) {
      case 'open':
        // It may have reported since, and a user may even have deleted its thread.
        if (registry.ofSession(change.session.host, change.session) !== undefined) return;
        return void (await threads.ensure(change.session, { directory: change.session.path }));
      case 'adopt': {
        const reported = registry.get(change.record.thread);
        if (reported !== undefined && sessionKey(reported) !== sessionKey(change.record)) return; // meanwhile
        return void registry.change(change.record.thread, unreportedSession(change.session));
      }
      case 'rename':
        // Letters that are read after the session has ended get its name from here.
        registry.change(change.record.thread, { sessionName: change.sessionName });
        return threads.rename(change.record, change.title);
      case 'move': {
        const { record, session } = change;
        registry.change(record.thread, { sessionName: session.sessionName });
        return void (await threads.ensure(session, { directory: record.project || session.path, shell: record.shell }));
      }
      case 'leave':
        return threads.moveAway(change.record, change.to);
      case 'close': {
        const { thread, server, archived, deleted } = change.record;
        const rest = connections.named(server)?.rest;
        const now = registry.get(thread);
        if (now?.closed) return; // !kill has said so
        if (now !== undefined && sessionKey(now) !== sessionKey(change.record)) return; // it was started again meanwhile
        const isTold = !deleted && rest !== undefined && archived === 'no';
        const record = registry.change(thread, { closed: true, ending: isTold, state: 'ended' }) ?? change.record;
        if (deleted) return registry.forget(thread);
        if (!isTold) return;
        await postNotice(rest, thread, [thread, 'closed', minute()], endedNotice(record));
        return threads.archive(thread, { ended: record });
      }
      case 'close-stray': {
        const content = `⏹️ The session has ended. ${untrustedCode(`!new ${change.name}`)} starts one with this name.`;
        return archiveStray(change.thread.id, ['closed', minute()], content);
      }
      case 'leave-stray':
        return archiveStray(change.thread.id, ['left'], LEFT);
    }
  }

  async function archiveStray(id: string, about: readonly (string | number)[], content: string): Promise<void> {
    const known = options.known.find((one) => one.all().some((thread) => thread.id === id));
    if (known === undefined) return;
    // A new thread may not be in the registry yet.
    if (content === LEFT && known.rest.serverTime() - snowflakeTime(id) < YOUNG_MS) return;
    await postNotice(known.rest, id, [id, ...about], { content, silent: true });
    return archiveThread(known.rest, id);
  }

  /** An earlier process may have been killed while it started a session. A host that cannot be reached now is asked later. */
  async function finishStarts(host: string): Promise<void> {
    await keepTrying(() => stopKeepingAll(hosts.tmux(host), startsMs, { timeoutMs: DEADLINE_MS }), {
      firstMs: EVERY_MS,
      longestMs: EVERY_MS,
      signal: closing.signal,
      onFailure: (error) => log.info('finishing starts', { host, because: (error as Error).message }),
    }).catch(() => {}); // closed
  }

  /**
   * One at a time per host: two runs at once would not see each other's threads. A host with very many changes, each of which waits
   * for Discord's limits, holds up no other host.
   */
  function runOn(host: string): Promise<void> {
    return nextRun(host, async () => {
      await finishEnds(host);
      await onHost(host).catch((error: Error) => log.info('lifecycle', { host, because: error.message }));
    });
  }

  /** Once now, for all hosts. */
  async function run(): Promise<void> {
    await Promise.all(hosts.names().map(runOn));
  }

  function soon(): void {
    due ??= setTimeout(() => {
      due = undefined;
      void clearHints()
        .then(run)
        .catch((error: Error) => log.warn('lifecycle', { because: error.message }));
    }, SETTLE_MS);
  }

  async function clearHints(): Promise<void> {
    for (const name of await readdir(hints).catch(() => []))
      tryBestEffort(hints, () => rmSync(join(hints, name), { force: true }));
  }

  const stopWatching = watchFolder(hints, soon, UNWATCHED_MS);
  options.sessionsChanged.listen(soon);
  const every = setInterval(soon, EVERY_MS);
  const starts = setTimeout(() => hosts.names().forEach((host) => void finishStarts(host)), startsMs).unref();
  soon();
  return {
    run,
    close() {
      stopWatching();
      clearInterval(every);
      clearTimeout(starts);
      closing.abort();
      clearTimeout(due);
    },
  };
}

/** One notice per thread and minute, also after a restart. */
function minute(): number {
  return Math.floor(Date.now() / 60_000);
}

function nameOf(change: ThreadChange): string {
  switch (change.do) {
    case 'open':
      return change.session.sessionName;
    case 'close-stray':
    case 'leave-stray':
      return change.thread.title;
    default:
      return change.record.title;
  }
}
