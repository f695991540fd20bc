// Decides what must change so that the threads of one host match its sessions. Pure. Must not be called for a host that
// could not be asked.

import { parseThreadTitle } from '../core/thread-title.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { sessionKey, type ThreadRecord } from './registry.ts';
import { titleOrNone } from './session-pane.ts';
import type { SessionPane } from './session-threads.ts';

export interface HostState {
  readonly host: string;
  readonly defaultHost: string;
  readonly sessions: readonly SessionPane[];
  /** The records of this host whose session is not known to be closed. */
  readonly records: readonly ThreadRecord[];
  /** Open threads of ours that the registry does not know. */
  readonly strays: readonly ThreadRef[];
  /** The channel of the session; undefined if it gets no thread. */
  readonly channelOf: (session: SessionPane) => string | undefined;
  /** It has a thread and should talk in the channel, or the reverse. */
  readonly isMisplaced?: (session: SessionPane, record: ThreadRecord) => boolean;
  /** Sessions that get no thread, by name. */
  readonly ignore: readonly string[];
  /** Whether sessions that never reported get a thread, too. */
  readonly auto: boolean;
}

export type ThreadChange =
  | { readonly do: 'open'; readonly session: SessionPane }
  /** The session was started again under the same name. */
  | { readonly do: 'adopt'; readonly record: ThreadRecord; readonly session: SessionPane }
  | { readonly do: 'rename'; readonly record: ThreadRecord; readonly title: string; readonly sessionName: string }
  | { readonly do: 'move'; readonly record: ThreadRecord; readonly session: SessionPane }
  | { readonly do: 'close'; readonly record: ThreadRecord }
  /** The session has a newer thread. */
  | { readonly do: 'leave'; readonly record: ThreadRecord; readonly to: ThreadRecord }
  | { readonly do: 'close-stray'; readonly thread: ThreadRef; readonly name: string }
  /** The session has another thread, or must not have one. */
  | { readonly do: 'leave-stray'; readonly thread: ThreadRef };

export function reconcile(state: HostState): readonly ThreadChange[] {
  const { sessions, defaultHost, channelOf } = state;
  const records = state.records.toSorted((a, b) => b.at - a.at);
  const taken = new Map<string, ThreadRecord | undefined>();
  const changes: ThreadChange[] = [];
  const byKey = new Map(sessions.toReversed().map((one) => [sessionKey(one), one]));
  const names = new Set(sessions.map(nameOf));
  /** By channel and name, the first one last. A hostile host may give thousands of sessions one name. */
  const byPlace = new Map<string, SessionPane[]>();
  for (const one of sessions.toReversed()) {
    const place = `${channelOf(one)} ${nameOf(one)}`;
    byPlace.set(place, byPlace.get(place) ?? []);
    byPlace.get(place)?.push(one);
  }
  const bySession = (record: ThreadRecord) => byKey.get(sessionKey(record));
  const isTaken = (one: SessionPane | undefined) => one !== undefined && taken.has(sessionKey(one));
  const free = (name: string, channel: string) => {
    const all = byPlace.get(`${channel} ${name}`) ?? [];
    while (isTaken(all.at(-1))) all.pop();
    return all.at(-1);
  };

  for (const record of records) {
    const session = bySession(record);
    if (session === undefined) continue;
    const newer = taken.get(sessionKey(session));
    if (newer !== undefined) {
      changes.push({ do: 'leave', record, to: newer });
      continue;
    }
    taken.set(sessionKey(session), record);
    if (!record.deleted && state.isMisplaced?.(session, record)) {
      changes.push({ do: 'move', record, session });
      continue;
    }
    const title = titleOrNone(session, state);
    // Renaming would reopen an archived thread.
    const isOpen = record.archived === 'no' && !record.deleted;
    if (title !== undefined && title !== record.title && isOpen)
      changes.push({ do: 'rename', record, title, sessionName: session.sessionName });
  }
  for (const record of records) {
    if (bySession(record) !== undefined) continue;
    const name = parseThreadTitle(record.title)?.session ?? record.sessionName;
    const session = free(name, record.channel);
    if (session === undefined) changes.push({ do: 'close', record });
    else {
      taken.set(sessionKey(session), record);
      changes.push({ do: 'adopt', record, session });
    }
  }
  for (const thread of state.strays) {
    const place = parseThreadTitle(thread.title);
    if (place === undefined || (place.host ?? defaultHost) !== state.host) continue;
    const session = free(place.session, thread.parentId);
    if (session !== undefined) {
      taken.set(sessionKey(session), undefined);
      changes.push({ do: 'open', session });
    } else if (names.has(place.session)) changes.push({ do: 'leave-stray', thread });
    else changes.push({ do: 'close-stray', thread, name: place.session });
  }
  if (!state.auto) return changes;
  const ignored = state.ignore.map((pattern) => new RegExp(pattern, 'u'));
  for (const session of sessions) {
    if (taken.has(sessionKey(session)) || titleOrNone(session, state) === undefined) continue;
    if (ignored.some((pattern) => pattern.test(session.sessionName.slice(0, 200)))) continue;
    if (channelOf(session) === undefined) continue;
    taken.set(sessionKey(session), undefined);
    changes.push({ do: 'open', session });
  }
  return changes;
}

function nameOf({ group, sessionName }: SessionPane): string {
  return group ?? sessionName;
}
