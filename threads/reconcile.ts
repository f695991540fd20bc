// What has to happen so that threads and sessions of one host agree again. Pure: the list of sessions is the truth, and
// a host that could not be asked is not in it.

import { placeOfTitle } from '../core/session-name.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { sessionKey, type ThreadRecord } from './record.ts';
import { type SessionPane, titleOf } from './threads.ts';

export interface HostState {
  readonly host: string;
  readonly defaultHost: string;
  readonly sessions: readonly SessionPane[];
  /** The records of this host whose session is not known to be closed. */
  readonly records: readonly ThreadRecord[];
  /** Open threads of ours that the registry does not know. */
  readonly strays: readonly ThreadRef[];
  /** Sessions that get no thread, by name. */
  readonly ignore: readonly string[];
  /** Whether sessions that never reported get a thread, too. */
  readonly auto: boolean;
}

export type Change =
  | { readonly do: 'open'; readonly session: SessionPane }
  /** The session was started again under the same name. */
  | { readonly do: 'adopt'; readonly record: ThreadRecord; readonly session: SessionPane }
  | { readonly do: 'rename'; readonly record: ThreadRecord; readonly title: string }
  | { readonly do: 'close'; readonly record: ThreadRecord }
  | { readonly do: 'close-stray'; readonly thread: ThreadRef; readonly name: string };

export function reconcile(state: HostState): readonly Change[] {
  const { sessions, records, defaultHost } = state;
  const taken = new Set<string>();
  const changes: Change[] = [];
  const bySession = (record: ThreadRecord) =>
    sessions.find((one) => sessionKey(one) === sessionKey(record));
  const byName = (name: string) =>
    sessions.find((one) => (one.group ?? one.sessionName) === name && !taken.has(sessionKey(one)));

  for (const record of records) {
    const session = bySession(record);
    if (session === undefined) continue;
    taken.add(sessionKey(session));
    const title = titleOrNone(session, defaultHost);
    // Renaming would reopen a thread that a person has archived.
    if (
      title !== undefined &&
      title !== record.title &&
      record.archived !== 'person' &&
      !record.deleted
    )
      changes.push({ do: 'rename', record, title });
  }
  for (const record of records) {
    if (bySession(record) !== undefined) continue;
    const session = byName(placeOfTitle(record.title)?.session ?? record.sessionName);
    if (session === undefined) changes.push({ do: 'close', record });
    else {
      taken.add(sessionKey(session));
      changes.push({ do: 'adopt', record, session });
    }
  }
  for (const thread of state.strays) {
    const place = placeOfTitle(thread.title);
    if (place === undefined || (place.host ?? defaultHost) !== state.host) continue;
    const session = byName(place.session);
    if (session === undefined) changes.push({ do: 'close-stray', thread, name: place.session });
    else {
      taken.add(sessionKey(session));
      changes.push({ do: 'open', session });
    }
  }
  if (!state.auto) return changes;
  const ignored = state.ignore.map((pattern) => new RegExp(pattern, 'u'));
  for (const session of sessions) {
    if (taken.has(sessionKey(session)) || titleOrNone(session, defaultHost) === undefined) continue;
    if (ignored.some((pattern) => pattern.test(session.sessionName.slice(0, 200)))) continue;
    taken.add(sessionKey(session));
    changes.push({ do: 'open', session });
  }
  return changes;
}

/** Undefined for a name that no title can hold. */
function titleOrNone(session: SessionPane, defaultHost: string): string | undefined {
  try {
    return titleOf(session, { defaultHost });
  } catch {
    return undefined;
  }
}
