// The registry: all thread records, in memory and on disk. One process writes it. A write that fails (a full disk) is
// tried again; what is in memory counts meanwhile.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../home/home.ts';
import { removeBestEffort, writeBestEffort } from '../home/whole-file.ts';
import { loadThreadRecords, sessionKey, type ThreadRecord } from './thread-record.ts';

export interface Registry {
  get(thread: string): ThreadRecord | undefined;
  all(): readonly ThreadRecord[];
  /** The thread of a tmux session, whatever its name is now. */
  ofSession(host: string, session: Parameters<typeof sessionKey>[0]): ThreadRecord | undefined;
  ofPane(host: string, serverPid: number, paneId: string): ThreadRecord | undefined;
  put(record: ThreadRecord): void;
  /** Undefined if there is no such thread. */
  change(thread: string, to: Partial<ThreadRecord>): ThreadRecord | undefined;
  forget(thread: string): void;
  /** Removes records of sessions that closed long ago. */
  sweep(now?: number): void;
}

const CLOSED_KEPT_MS = 30 * 86_400_000;
const KEPT = 2_000;

export function openRegistry(home: Home): Registry {
  const records = new Map(loadThreadRecords(home).map((record) => [record.thread, record]));
  const path = (thread: string) => join(home.folder('threads'), `${thread}.json`);
  const newestFirst = () => [...records.values()].sort((a, b) => b.at - a.at);
  const live = (one: ThreadRecord) => !one.closed && one.shell !== 'terminal';

  function forget(thread: string): void {
    if (records.delete(thread)) removeBestEffort(path(thread));
  }

  return {
    get: (thread) => records.get(thread),
    all: () => [...records.values()],
    ofSession: (host, session) =>
      newestFirst().find((one) => live(one) && one.host === host && sessionKey(one) === sessionKey(session)),
    ofPane: (host, serverPid, paneId) =>
      newestFirst().find(
        (one) => one.host === host && one.serverPid === serverPid && one.paneId === paneId && live(one),
      ),
    put(record) {
      records.set(record.thread, record);
      writeBestEffort(path(record.thread), record);
    },
    change(thread, to) {
      const record = records.get(thread);
      if (record === undefined) return undefined;
      const changed = { ...record, ...to };
      records.set(thread, changed);
      writeBestEffort(path(thread), changed);
      return changed;
    },
    forget,
    sweep(now = Date.now()) {
      const closed = newestFirst().filter((one) => one.closed);
      for (const [at, { thread }] of closed.entries()) {
        const written = statSync(path(thread), { throwIfNoEntry: false })?.mtimeMs ?? now;
        if (now - written > CLOSED_KEPT_MS || at >= KEPT) forget(thread);
      }
    },
  };
}
