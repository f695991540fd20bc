// What the courier works with: the servers, the threads of sessions, what was shown before. Every
// handler gets the same desk; nothing is global.

import { homedir } from 'node:os';
import { basename } from 'node:path';
import { footer, parseStatus } from '../claude/status.ts';
import type { Config, Server } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { threadTitle } from '../core/session-name.ts';
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
import { type Bound, openThreadBook } from './thread-book.ts';
import { welcomeText } from './welcome.ts';

export interface Desk {
  readonly home: Home;
  readonly config: Config;
  readonly log: Log;
  readonly sessionOf: SessionOf;
  readonly shown: Shown;
  readonly progress: Progress;
  restOf(server: Server): Rest;
  placeOf(to: Destination): Promise<Place>;
  destinationOf(cwd: string): Destination | undefined;
  /** The session's thread, found or made; `isGone` if the one we knew was deleted. */
  threadOf(session: Whereabouts, cwd: string, to: Destination, isGone?: boolean): Promise<Bound>;
  /** Remembers the last message posted into a session's thread. */
  posted(session: Whereabouts, last: string): void;
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

export function openDesk(options: DeskOptions): Desk {
  const { home, config, log } = options;
  const book = openThreadBook(home);
  const rests = new Map<string, Rest>();
  const places = new Map<string, Promise<Place>>();

  function restOf(server: Server): Rest {
    const key = `${server.api} ${server.token}`;
    const rest = rests.get(key) ?? connectRest({ ...server, log, patienceMs: PATIENCE_MS });
    rests.set(key, rest);
    return rest;
  }

  function placeOf({ server, channel }: Destination): Promise<Place> {
    const key = `${server.api} ${channel}`;
    const opened = places.get(key) ?? openPlace(restOf(server), channel);
    places.set(key, opened);
    opened.catch(() => places.delete(key)); // asked again next time
    return opened;
  }

  async function threadOf(
    session: Whereabouts,
    cwd: string,
    to: Destination,
    isGone = false,
  ): Promise<Bound> {
    const key = sessionKey(session);
    const label = sessionLabel(session);
    const host = config.host === config.defaultHost ? undefined : config.host;
    const title = threadTitle(host === undefined ? { session: label } : { session: label, host });
    const known = isGone ? undefined : book.get(key);
    if (known?.server === to.server.name && known.channel === to.channel) {
      if (known.title !== title) rename(key, known, title, restOf(to.server));
      return known;
    }
    const place = await placeOf(to);
    const thread = await ensureThread(
      place,
      title,
      welcomeText({ session: label, host: config.host, cwd }),
      to.server.allow,
    );
    const bound = {
      server: to.server.name,
      channel: to.channel,
      thread: thread.id,
      title,
      last: thread.id,
    };
    book.set(key, bound);
    return bound;
  }

  /** Discord lets a thread be renamed twice in ten minutes: no letter waits for that. */
  function rename(key: string, known: Bound, title: string, rest: Rest): void {
    book.set(key, { ...known, title });
    renameThread(rest, known.thread, title).catch((error: Error) =>
      log.warn('renaming a thread', { title, because: error.message }),
    );
  }

  return {
    home,
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
    posted(session, last) {
      const key = sessionKey(session);
      const bound = book.get(key);
      if (bound !== undefined) book.set(key, { ...bound, last });
    },
    header: (session, cwd) => [config.host, basename(cwd), sessionLabel(session)].join(' · '),
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
