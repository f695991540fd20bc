// Which threads belong to a tmux session or a pane now: an index of the registry's records, because each report asks for it and there
// may be thousands of threads. Closed threads and terminals are not in it. Follows from the records; `set` is told each of them.

import type { ThreadRecord } from './registry.ts';

export interface SessionIds {
  readonly serverPid: number;
  readonly sessionId: string;
  readonly group?: string | undefined;
}

/** `keyOf`: the same for all views of a session. */
export function createLiveIndex(records: Iterable<ThreadRecord>, keyOf: (session: SessionIds) => string) {
  /** By key, then by thread. */
  const all = new Map<string, Map<string, ThreadRecord>>();

  function keysOf(record: ThreadRecord | undefined): readonly string[] {
    if (record === undefined || record.closed || record.shell === 'terminal') return [];
    const { host, serverPid, paneId } = record;
    return [`${host} ${keyOf(record)}`, paneKey(host, serverPid, paneId)];
  }

  /** `before`: the record of the same thread until now. `record` is undefined if the thread was forgotten. */
  function set(record: ThreadRecord | undefined, before: ThreadRecord | undefined): void {
    const keys = keysOf(record);
    if (before !== undefined) for (const key of keysOf(before)) if (!keys.includes(key)) remove(key, before.thread);
    if (record !== undefined)
      for (const key of keys) all.set(key, (all.get(key) ?? new Map()).set(record.thread, record));
  }

  function remove(key: string, thread: string): void {
    const found = all.get(key);
    found?.delete(thread);
    if (found?.size === 0) all.delete(key);
  }

  /** If several threads belong to it. */
  function newest(key: string): ThreadRecord | undefined {
    let found: ThreadRecord | undefined;
    for (const one of all.get(key)?.values() ?? []) if (found === undefined || one.at > found.at) found = one;
    return found;
  }

  for (const record of records) set(record, undefined);
  return {
    set,
    ofSession: (host: string, session: SessionIds) => newest(`${host} ${keyOf(session)}`),
    ofPane: (host: string, serverPid: number, paneId: string) => newest(paneKey(host, serverPid, paneId)),
  };
}

/** Never that of a session: there, ":" follows the number. */
function paneKey(host: string, serverPid: number, paneId: string): string {
  return `${host} ${serverPid} ${paneId}`;
}
