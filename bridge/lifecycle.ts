// Keeps threads in step with tmux sessions made, renamed and closed by hand, on all hosts: when
// tmux tells of one, at the start, and every few minutes, because what tmux tells are only hints.

import { mkdirSync, rmSync, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { threadTitle } from '../core/session-name.ts';
import { welcomeText } from '../core/welcome.ts';
import {
  activeThreads,
  archiveThread,
  ensureThread,
  renameThread,
  type ThreadRef,
} from '../discord/threads.ts';
import { loadAuto } from '../home/auto.ts';
import type { Home } from '../home/home.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import { loadStreamRecords } from '../home/stream-record.ts';
import { listSessions, type Session } from '../tmux/sessions.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { Tools } from './command.ts';
import { type Change, reconcile } from './reconcile.ts';
import type { Say } from './say.ts';

export interface Lifecycle {
  /** Once now, over all hosts. */
  run(): Promise<void>;
  close(): void;
}

const EVERY_MS = 3 * 60_000;
const DEADLINE_MS = 10_000;
/** Several events come at once when a session is made. */
const SETTLE_MS = 300;

export function startLifecycle(home: Home, tools: Tools, say: Say): Lifecycle {
  const { config, hosts, panes, threads, place, log } = tools;
  const hints = join(home.folder('state'), 'tmux-events');
  mkdirSync(hints, { recursive: true, mode: 0o700 });
  let running = Promise.resolve();
  let due: NodeJS.Timeout | undefined;

  async function onHost(host: string, there: readonly ThreadRef[]): Promise<void> {
    // An unreachable host is not one without sessions: this rejects, and nothing is closed.
    const records = await panes.records(host, DEADLINE_MS);
    const sessions = await everySession(host, records);
    const standing = {
      host,
      defaultHost: config.defaultHost,
      sessions,
      records,
      threads: there,
      // A terminal has a thread of its own kind.
      ignore: [...config.ignoreSessions, ...loadStreamRecords(home).map(({ name }) => `^${name}$`)],
      auto: loadAuto(home) && hosts.isLocal(host),
    };
    for (const change of reconcile(standing)) await apply(host, change);
  }

  /** Hooks report from any server a person runs, not only from the one that new sessions go to. */
  async function everySession(
    host: string,
    records: readonly PaneRecord[],
  ): Promise<readonly Session[]> {
    const own = await panes.socket(host);
    const sockets = new Set([own, ...records.map(({ socket }) => socket)]);
    const lists = await Promise.all(
      [...sockets].map((socket) =>
        listSessions(tmuxOn(hosts.get(host), socket), { timeoutMs: DEADLINE_MS }),
      ),
    );
    return lists.flat();
  }

  async function apply(host: string, change: Change): Promise<void> {
    log.info('lifecycle', {
      do: change.do,
      host,
      what: change.do === 'open' ? change.session.name : change.thread.title,
    });
    switch (change.do) {
      case 'open':
        return open(host, change.session);
      case 'rename':
        return renameThread(place.rest, change.thread.id, change.title);
      case 'close':
        await say(change.thread.id, [change.thread.id, 'closed', Math.floor(Date.now() / 60_000)], {
          content: `⏹️ The session was closed. \`!new ${change.name}\` starts it again.`,
          silent: true,
        });
        return archiveThread(place.rest, change.thread.id);
    }
  }

  async function open(host: string, session: Session): Promise<void> {
    const name = session.group ?? session.name;
    const title = threadTitle(
      host === config.defaultHost ? { session: name } : { session: name, host },
    );
    const welcome = welcomeText({ session: name, host, cwd: session.pane.path });
    const thread = await ensureThread(place, title, welcome, tools.members);
    threads.learn(thread);
    const record = await panes.found(host, thread.id, session, 'found');
    const known = (await panes.find(thread, true))?.record;
    // It may have reported by itself meanwhile, or have been started on somebody's order.
    if (known?.serverPid === record.serverPid && known.sessionId === record.sessionId) return;
    await panes.save(record);
  }

  async function run(): Promise<void> {
    // Asked for each time: after a resumed connection nobody tells which threads there are.
    const there = await activeThreads(place).catch((error: Error) => {
      log.info('lifecycle', { because: error.message });
      return undefined;
    });
    if (there === undefined) return;
    for (const thread of there) threads.learn(thread);
    await Promise.all(
      hosts
        .names()
        .map((host) =>
          onHost(host, there).catch((error: Error) =>
            log.info('lifecycle', { host, because: error.message }),
          ),
        ),
    );
  }

  /** One at a time: two that run together would both miss the other's threads. */
  function soon(): void {
    due ??= setTimeout(() => {
      due = undefined;
      running = running
        .then(clearHints)
        .then(run)
        .catch((error: Error) => log.warn('lifecycle', { because: error.message }));
    }, SETTLE_MS);
  }

  async function clearHints(): Promise<void> {
    for (const name of await readdir(hints).catch(() => []))
      rmSync(join(hints, name), { force: true });
  }

  const watcher = watch(hints, soon);
  const every = setInterval(soon, EVERY_MS);
  soon();
  return {
    run: () => {
      running = running.then(run);
      return running;
    },
    close() {
      clearTimeout(due);
      clearInterval(every);
      watcher.close();
    },
  };
}
