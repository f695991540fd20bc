// What has to happen so that threads and sessions of one host agree again. Pure: the list of
// sessions is the truth, and a host that could not be asked is not in it.

import { placeOfTitle, threadTitle } from '../core/session-name.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import type { Session } from '../tmux/sessions.ts';

export interface Standing {
  readonly host: string;
  readonly defaultHost: string;
  readonly sessions: readonly Session[];
  readonly records: readonly PaneRecord[];
  /** Our threads that are not archived. */
  readonly threads: readonly ThreadRef[];
  /** Sessions that are infrastructure, by name. */
  readonly ignore: readonly string[];
  /** Whether sessions that never reported get a thread, too. */
  readonly auto: boolean;
}

export type Change =
  | { readonly do: 'open'; readonly session: Session }
  | { readonly do: 'close'; readonly thread: ThreadRef; readonly name: string }
  | { readonly do: 'rename'; readonly thread: ThreadRef; readonly title: string };

export function reconcile(standing: Standing): readonly Change[] {
  const { host, defaultHost, sessions, records } = standing;
  const mine = standing.threads.filter(({ title }) => {
    const place = placeOfTitle(title);
    return place !== undefined && (place.host ?? defaultHost) === host;
  });
  const recordOf = (thread: ThreadRef) => records.find((one) => one.thread === thread.id);
  const sessionOf = (thread: ThreadRef) =>
    findSession(sessions, recordOf(thread), placeOfTitle(thread.title)?.session);

  const changes = mine.flatMap((thread): readonly Change[] => {
    const session = sessionOf(thread);
    const name = placeOfTitle(thread.title)?.session ?? thread.title;
    if (session === undefined) return [{ do: 'close', thread, name }];
    const title = titleOf(session, host, defaultHost);
    return title === undefined || title === thread.title ? [] : [{ do: 'rename', thread, title }];
  });
  if (!standing.auto) return changes;
  const taken = new Set(mine.flatMap((thread) => identity(sessionOf(thread)) ?? []));
  const ignored = standing.ignore.map((pattern) => new RegExp(pattern, 'u'));
  const fresh = sessions.filter(
    (session) =>
      !taken.has(identity(session) ?? '') &&
      !ignored.some((pattern) => pattern.test(session.name.slice(0, 200))) &&
      titleOf(session, host, defaultHost) !== undefined,
  );
  const first = fresh.filter(
    (one, at) => fresh.findIndex((other) => identity(other) === identity(one)) === at,
  );
  return [...changes, ...first.map((session): Change => ({ do: 'open', session }))];
}

/** Grouped sessions are one session with several views. */
function identity(session: Session | undefined): string | undefined {
  return session === undefined ? undefined : `${session.serverPid}:${session.group ?? session.id}`;
}

/** By its identity in tmux if the thread's pane is known, for it may have been renamed; else by its name. */
function findSession(
  sessions: readonly Session[],
  record: PaneRecord | undefined,
  name: string | undefined,
): Session | undefined {
  const same = sessions.find(
    ({ id, serverPid }) => id === record?.sessionId && serverPid === record.serverPid,
  );
  return same ?? sessions.find((session) => (session.group ?? session.name) === name);
}

/** Undefined for a name that no title can hold. */
function titleOf(session: Session, host: string, defaultHost: string): string | undefined {
  const name = session.group ?? session.name;
  try {
    return threadTitle(host === defaultHost ? { session: name } : { session: name, host });
  } catch {
    return undefined;
  }
}
