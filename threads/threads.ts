// The threads of sessions: found or made, renamed, moved, archived, and kept in the registry. Nothing else decides
// where a session belongs.

import { homedir } from 'node:os';
import type { Config } from '../core/config.ts';
import { createInTurn } from '../core/in-turn.ts';
import type { Log } from '../core/log.ts';
import { stableNonce } from '../core/nonce.ts';
import { threadTitle } from '../core/session-name.ts';
import { welcomeText } from '../core/welcome.ts';
import { createMessage } from '../discord/messages.ts';
import { archiveThread, ensureThread, renameThread } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import type { Whereabouts } from '../tmux/whoami.ts';
import type { Connections } from './connections.ts';
import { type Destination, destinationOf } from './destination.ts';
import { sessionKey, type ThreadRecord } from './record.ts';
import { openRegistry, type Registry } from './registry.ts';

/** A session and the pane of it that is meant. */
export interface SessionPane extends Whereabouts {
  readonly host: string;
}

export interface Threads {
  readonly registry: Registry;
  readonly connections: Connections;
  /** Undefined: sessions of this directory are announced nowhere. */
  destinationOf(directory: string): Destination | undefined;
  /** The session's thread, found or made; undefined if it belongs nowhere. `gone` names one that was deleted. */
  ensure(
    session: SessionPane,
    options: {
      readonly directory: string;
      readonly shell?: ThreadRecord['shell'];
      readonly gone?: string;
    },
  ): Promise<ThreadRecord | undefined>;
  /** By us: the session is over, or a command said so. */
  archive(thread: string, options?: { readonly closed?: boolean }): Promise<void>;
  /** What the gateway says of a thread: a person archived or reopened it. */
  heard(thread: string, archived: boolean): void;
}

export interface ThreadsOptions {
  readonly home: Home;
  readonly config: Config;
  readonly connections: Connections;
  readonly log: Log;
}

/** Discord lets a thread be renamed twice in ten minutes: no letter waits for that. */
const RENAME_AGAIN_MS = 600_000;

export function openThreads({ home, config, connections, log }: ThreadsOptions): Threads {
  const registry = openRegistry(home);
  const opening = createInTurn();
  const renames = new Map<string, { readonly title: string; readonly at: number }>();

  const toDestination = (directory: string) =>
    destinationOf(
      directory,
      connections.all().map(({ server }) => server),
      (path) => path.replace(/^~(?=\/|$)/, homedir()),
    );

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

  async function bind(
    session: SessionPane,
    to: Destination,
    shell: ThreadRecord['shell'],
  ): Promise<ThreadRecord> {
    const title = titleOf(session, config);
    const place = await connections.of(to.server).place(to.channel);
    const label = session.group ?? session.sessionName;
    const welcome = welcomeText({ session: label, host: session.host, cwd: session.path });
    const thread = await ensureThread(place, title, welcome, to.server.allow);
    const { path, ...pane } = session;
    const record: ThreadRecord = {
      ...pane,
      ...{ thread: thread.id, server: to.server.name, channel: to.channel, title, cwd: path },
      ...{ claudeSession: '', transcript: '', state: 'idle', shell, at: Date.now() },
      // What an older session of this name said is not what a letter of this one may have posted.
      ...{ last: thread.lastMessageId ?? thread.id, posted: [], deliveries: [] },
      ...{ archived: 'no', closed: false, deleted: false, toldUnheard: false, stoppedAt: 0 },
    };
    registry.put(record);
    return record;
  }

  async function moveAway(old: ThreadRecord, to: ThreadRecord): Promise<void> {
    registry.change(old.thread, { closed: true, archived: 'us' });
    const rest = connections.named(old.server)?.rest;
    if (rest === undefined || old.server !== to.server) return;
    const nonce = stableNonce('moved', old.thread, to.thread);
    await createMessage(rest, old.thread, nonce, {
      content: `➡️ This session continues in <#${to.thread}>.`,
      silent: true,
    });
    await archiveThread(rest, old.thread);
  }

  return {
    registry,
    connections,
    destinationOf: toDestination,
    ensure(session, { directory, shell = 'found', gone }) {
      const key = `${session.host} ${sessionKey(session)}`;
      // Two panes of one session must not both make its thread.
      return opening(key, async () => {
        const to = toDestination(directory);
        if (to === undefined) return undefined;
        const known = registry.ofSession(session.host, session);
        const isThere = known !== undefined && known.thread !== gone && !known.deleted;
        if (isThere && known.server === to.server.name && known.channel === to.channel) {
          const title = titleOf(session, config);
          if (known.title !== title) rename(known, title);
          return known;
        }
        const record = await bind(session, to, shell);
        if (known !== undefined && known.thread !== record.thread) {
          if (!isThere) registry.forget(known.thread);
          else
            await moveAway(known, record).catch((error: Error) =>
              log.warn('moving a thread', { because: error.message }),
            );
        }
        return record;
      });
    },
    async archive(thread, { closed = false } = {}) {
      const record = registry.change(thread, { archived: 'us', ...(closed ? { closed } : {}) });
      const rest = record && connections.named(record.server)?.rest;
      if (rest !== undefined) await archiveThread(rest, thread);
    },
    heard(thread, archived) {
      const record = registry.get(thread);
      if (record === undefined) return;
      if (archived && record.archived === 'no') registry.change(thread, { archived: 'person' });
      if (!archived && record.archived !== 'no') registry.change(thread, { archived: 'no' });
    },
  };
}

export function titleOf(
  { host, group, sessionName }: Pick<SessionPane, 'host' | 'group' | 'sessionName'>,
  { defaultHost }: Pick<Config, 'defaultHost'>,
): string {
  const session = group ?? sessionName;
  return threadTitle(host === defaultHost ? { session } : { session, host });
}
