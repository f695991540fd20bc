// What the courier works with: the servers, the threads of sessions, what was shown before. Every
// handler gets the same desk; nothing is global.

import { homedir } from 'node:os';
import { basename } from 'node:path';
import { footer, parseStatus } from '../claude/status.ts';
import type { Config, Server } from '../core/config.ts';
import { createInTurn, type InTurn } from '../core/in-turn.ts';
import type { Log } from '../core/log.ts';
import { plain } from '../core/outside-words.ts';
import { threadTitle } from '../core/session-name.ts';
import { welcomeText } from '../core/welcome.ts';
import { connectRest, type Rest } from '../discord/rest.ts';
import { ensureThread, openPlace, type Place, renameThread } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import { loadStatus } from '../home/status-file.ts';
import type { Host } from '../tmux/host.ts';
import type { Whereabouts } from '../tmux/whoami.ts';
import { type Destination, destinationOf } from './destination.ts';
import { createProgress, type Progress } from './progress.ts';
import { createSessionOf, type SessionOf, sessionKey, sessionLabel } from './session-of.ts';
import { openShown, type Shown } from './shown.ts';
import { type Bound, openThreadBook, type Posted, withPosted } from './thread-book.ts';

export interface Desk {
  readonly home: Home;
  readonly host: Host;
  readonly config: Config;
  readonly log: Log;
  readonly sessionOf: SessionOf;
  readonly shown: Shown;
  readonly progress: Progress;
  restOf(server: Server): Rest;
  placeOf(to: Destination): Promise<Place>;
  destinationOf(cwd: string): Destination | undefined;
  /** The session's thread, found or made; `gone` names one that was deleted. */
  threadOf(session: Whereabouts, cwd: string, to: Destination, gone?: string): Promise<Bound>;
  /** One letter at a time into each thread: the parts of two replies must not mix. */
  readonly inTurn: InTurn;
  /** Remembers what was posted into a session's thread. */
  posted(session: Whereabouts, posted: Posted): void;
  header(session: Whereabouts, cwd: string): string;
  footer(claudeSession: string): string;
  close(): Promise<void>;
}

export interface DeskOptions {
  readonly home: Home;
  readonly config: Config;
  /** Asked each time: the local workspace may come up later. */
  readonly servers: () => readonly Server[];
  readonly host: Host;
  readonly log: Log;
}

/** A letter that fails is tried again anyway, so one attempt need not last long. */
const PATIENCE_MS = 10_000;
const RENAME_AGAIN_MS = 600_000;

export function openDesk(options: DeskOptions): Desk {
  const { home, config, log } = options;
  const book = openThreadBook(home);
  const rests = new Map<string, Rest>();
  const places = new Map<string, Promise<Place>>();
  const opening = createInTurn();
  const renames = new Map<string, { readonly title: string; readonly at: number }>();

  function restOf(server: Server): Rest {
    const key = `${server.api} ${server.token}`;
    const rest = rests.get(key) ?? connectRest({ ...server, log, patienceMs: PATIENCE_MS });
    rests.set(key, rest);
    return rest;
  }

  function placeOf({ server, channel }: Destination): Promise<Place> {
    const key = `${server.api} ${server.token} ${channel}`;
    const opened = places.get(key) ?? openPlace(restOf(server), channel);
    places.set(key, opened);
    opened.catch(() => places.delete(key)); // asked again next time
    return opened;
  }

  function threadOf(
    session: Whereabouts,
    cwd: string,
    to: Destination,
    gone?: string,
  ): Promise<Bound> {
    const key = sessionKey(session);
    // Two panes of one session must not both set out to make its thread.
    return opening(key, async () => {
      const title = titleOf(session);
      const known = book.get(key);
      if (known?.server !== to.server.name || known.channel !== to.channel || known.thread === gone)
        return bind(key, session, cwd, to);
      if (known.title !== title) rename(key, known.thread, title, restOf(to.server));
      return known;
    });
  }

  function titleOf(session: Whereabouts): string {
    const label = sessionLabel(session);
    return threadTitle(
      config.host === config.defaultHost
        ? { session: label }
        : { session: label, host: config.host },
    );
  }

  async function bind(
    key: string,
    session: Whereabouts,
    cwd: string,
    to: Destination,
  ): Promise<Bound> {
    const title = titleOf(session);
    const place = await placeOf(to);
    const thread = await ensureThread(
      place,
      title,
      welcomeText({ session: sessionLabel(session), host: config.host, cwd }),
      to.server.allow,
    );
    const bound = {
      server: to.server.name,
      channel: to.channel,
      thread: thread.id,
      title,
      // What an older life of this session said is not what a letter of this one may have posted.
      last: thread.lastMessageId ?? thread.id,
      posted: [],
    };
    book.set(key, bound);
    return bound;
  }

  /** Discord lets a thread be renamed twice in ten minutes: no letter waits for that. */
  function rename(key: string, thread: string, title: string, rest: Rest): void {
    const tried = renames.get(thread);
    if (tried?.title === title && Date.now() - tried.at < RENAME_AGAIN_MS) return;
    renames.set(thread, { title, at: Date.now() });
    renameThread(rest, thread, title)
      .then(() => {
        const bound = book.get(key);
        if (bound?.thread === thread) book.set(key, { ...bound, title });
      })
      .catch((error: Error) => log.warn('renaming a thread', { title, because: error.message }));
  }

  return {
    home,
    host: options.host,
    config,
    log,
    sessionOf: createSessionOf(home, options.host),
    shown: openShown(home),
    progress: createProgress({ home, log }),
    restOf,
    placeOf,
    destinationOf: (cwd) =>
      destinationOf(cwd, options.servers(), (path) => path.replace(/^~(?=\/|$)/, homedir())),
    threadOf,
    inTurn: createInTurn(),
    posted(session, posted) {
      const key = sessionKey(session);
      const bound = book.get(key);
      if (bound !== undefined) book.set(key, withPosted(bound, posted));
    },
    header: (session, cwd) =>
      [config.host, plain(basename(cwd)), plain(sessionLabel(session))].join(' · '),
    footer(claudeSession) {
      const status = parseStatus(loadStatus(home, claudeSession));
      return status === undefined
        ? ''
        : footer(status, (seconds) => `<t:${Math.round(seconds)}:R>`);
    },
    async close() {
      this.progress.close();
      await Promise.all([...rests.values()].map((rest) => rest.close()));
    },
  };
}
