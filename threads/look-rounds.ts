// Decides which panes to look at, and looks at them with as few processes as possible: on this machine one list per tmux
// server, and one script for the screens that may have changed. Other hosts only when there is a reason: they say when a pane moves.

import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { createLastParsed } from '../core/last-parsed.ts';
import type { Log } from '../core/log.ts';
import type { HostList } from '../tmux/host-list.ts';
import { type ListedPane, type LookResult, lookAtPanes, printPaneList, readPaneList } from '../tmux/look.ts';
import { type Tmux, tmuxOn } from '../tmux/tmux.ts';
import { sessionKey, type ThreadRecord } from './registry.ts';

export interface PaneLooks {
  /** Looks at what may have changed on this machine. */
  roundHere(live: readonly ThreadRecord[]): Promise<void>;
  /** Starts to look at what is due on other hosts. */
  roundThere(live: readonly ThreadRecord[]): void;
  /** Something happened there. */
  wanted(thread: string): void;
  /** What a host says, and its threads: its panes may show something else, or it is back. */
  news(host: string, news: 'moved' | 'reachable' | 'unreachable', threads: readonly string[]): void;
  close(): void;
}

interface LooksOptions {
  readonly hosts: HostList;
  readonly log: Log;
  readonly isAway: (host: string) => boolean;
  /** A session that changes by itself: it works, or waits for something. */
  readonly isActive: (thread: string) => boolean;
  /** What was seen must be seen once more. */
  readonly isUnsure: (thread: string) => boolean;
  /** When its state changed last. */
  readonly changedAt: (thread: string) => number;
  readonly took: (record: ThreadRecord, look: LookResult, at: number) => void;
  /** Another round there is due soon. */
  readonly again: () => void;
  /** The screen is still what it was at the last look. */
  readonly unchanged: (thread: string, at: number) => void;
}

const TIMEOUT_MS = 10_000;
/** Other hosts: after an event, and between two looks at an active session. */
const SOON_MS = 500;
const ACTIVE_MS = 1_500;
const AGAIN_MS = 150;
/** Before the second look at a screen of this machine. */
const AGAIN_HERE_MS = 80;
/** A host is left alone this many times as long as it took to read its screens. */
const PAUSED = 4;
/** A look that failed is tried again so often; then only when something happens there. */
const MOST_FAILURES = 5;
const RETRY_MS = 500;
/** A screen that never stands still is left alone after so many looks. */
const UNSURE_LOOKS = 3;
/** Between two looks at a pane that moves but is idle: it grows while its state stays the same. */
const MOVED_MS = { first: 500, longest: 8_000 };

export function createLooks({ hosts, log, ...options }: LooksOptions): PaneLooks {
  const listed = createLastParsed((printed) => indexed(readPaneList(printed)));
  const lastPrint = new Map<string, string>();
  const lookedAt = new Map<string, number>();
  const wantedAt = new Map<string, number>();
  const unsure = new Map<string, number>();
  const movedAt = new Map<string, number>();
  const pauses = new Map<string, number>();
  const busy = new Map<string, AbortController>();
  const failures = new Map<string, number>();
  const pausedUntil = new Map<string, number>();
  const stopping = new AbortController();
  const { signal } = stopping;
  setMaxListeners(0, signal); // as many as there are tmux servers looked at
  let failed = '';

  async function here(records: readonly ThreadRecord[]): Promise<void> {
    const tmux = tmuxOn(hosts.get(records[0]?.host ?? ''), records[0]?.socket);
    const at = Date.now();
    const panes = listed(serverOf(records[0]), await printPaneList(tmux, { timeoutMs: TIMEOUT_MS, signal }));
    const due: { record: ThreadRecord; pane: ListedPane }[] = [];
    for (const record of records) {
      const pane = paneOf(record, panes);
      const looked = lookedAt.get(record.thread) ?? 0;
      if (pane === undefined) {
        lastPrint.delete(record.thread);
        options.took(record, { kind: 'gone' }, at);
      } else if (
        lastPrint.get(record.thread) !== pane.print ||
        pane.activityAt >= Math.floor(looked / 1_000) * 1_000 ||
        options.isUnsure(record.thread)
      )
        due.push({ record, pane });
      else options.unchanged(record.thread, at);
    }
    await lookHere(tmux, due);
  }

  /** What was seen for the first time is looked at again at once, without another list. */
  async function lookHere(tmux: Tmux, due: readonly { record: ThreadRecord; pane: ListedPane }[]): Promise<void> {
    if (due.length === 0) return;
    const began = Date.now();
    const panes = due.map(({ pane }) => pane);
    const seen = await lookAtPanes(tmux, panes, { timeoutMs: TIMEOUT_MS, signal });
    const again = due.filter(({ record: { thread }, record, pane }, index) => {
      lastPrint.set(thread, pane.print);
      lookedAt.set(thread, began);
      options.took(record, seen[index] ?? { kind: 'gone' }, began);
      const looks = options.isUnsure(thread) ? (unsure.get(thread) ?? 0) + 1 : 0;
      unsure.set(thread, looks);
      return looks > 0 && looks <= UNSURE_LOOKS;
    });
    if (again.length > 0) await sleep(AGAIN_HERE_MS, undefined, { signal });
    await lookHere(tmux, again);
  }

  async function there(records: readonly ThreadRecord[], signal: AbortSignal): Promise<void> {
    const tmux = tmuxOn(hosts.get(records[0]?.host ?? ''), records[0]?.socket);
    const at = Date.now();
    for (const { thread } of records) {
      wantedAt.delete(thread);
      lookedAt.set(thread, at);
    }
    const call = { timeoutMs: TIMEOUT_MS, signal };
    const seen = [...(await lookAtPanes(tmux, records, call))];
    // The recorded pane is gone, but its session may have another one.
    if (seen.some(({ kind }) => kind === 'gone')) {
      const panes = listed(serverOf(records[0]), await printPaneList(tmux, call));
      for (const [index, record] of records.entries()) {
        const other = seen[index]?.kind === 'gone' ? paneOf(record, panes) : undefined;
        if (other !== undefined) seen[index] = (await lookAtPanes(tmux, [other], call))[0] ?? { kind: 'gone' };
      }
    }
    // One screen per turn, and then a pause: a host may fill all screens, and reading them takes seconds.
    for (const [index, record] of records.entries()) {
      const began = performance.now();
      options.took(record, seen[index] ?? { kind: 'gone' }, at);
      const pauseMs = PAUSED * (performance.now() - began);
      pausedUntil.set(record.host, Math.max(Date.now(), pausedUntil.get(record.host) ?? 0) + pauseMs);
      await nextTurn();
    }
    if (records.some(({ thread }) => options.isUnsure(thread))) setTimeout(options.again, AGAIN_MS).unref();
  }

  function isDueThere({ thread, host, at }: ThreadRecord, now: number): boolean {
    const looked = lookedAt.get(thread);
    if (options.isAway(host) || now < (pausedUntil.get(host) ?? 0)) return false;
    if (looked === undefined) return true; // the first time, and when the host is back
    const tries = unsure.get(thread) ?? 0;
    unsure.delete(thread);
    if (now - (wantedAt.get(thread) ?? now) >= SOON_MS) return true;
    // It was reported at `at`. If it has just become active, a delivery may be looking at it.
    const knownAt = Math.max(looked, at, options.changedAt(thread));
    if (options.isActive(thread) && now - knownAt >= ACTIVE_MS) return true;
    if (isMoved(thread, looked, now)) return true;
    if (!options.isUnsure(thread)) return false;
    const isDue = now - looked >= AGAIN_MS && tries < UNSURE_LOOKS;
    unsure.set(thread, isDue ? tries + 1 : tries);
    return isDue;
  }

  function isMoved(thread: string, looked: number, now: number): boolean {
    const moved = movedAt.get(thread);
    if (moved === undefined || moved < looked) return false;
    const isCalm = moved - looked > 2 * MOVED_MS.longest || options.changedAt(thread) > looked;
    const pause = isCalm || options.isActive(thread) ? MOVED_MS.first : (pauses.get(thread) ?? MOVED_MS.first);
    if (now - looked < pause) return false;
    pauses.set(thread, Math.min(MOVED_MS.longest, 2 * pause));
    return true;
  }

  const known = (live: readonly ThreadRecord[], names = new Set(hosts.names())) =>
    live.filter(({ host }) => names.has(host));

  function failedBecause(error: Error): void {
    if (signal.aborted || failed === error.message) return;
    failed = error.message;
    log.info('looking at panes', { because: failed });
  }

  return {
    async roundHere(live) {
      const records = known(live).filter(({ host }) => hosts.isLocal(host));
      await Promise.all(byServer(records).map((group) => here(group).catch(failedBecause)));
    },
    roundThere(live) {
      const now = Date.now();
      for (const group of byServer(known(live).filter(({ host }) => !hosts.isLocal(host)))) {
        const key = serverOf(group[0]);
        const due = busy.get(key)?.signal.aborted === false ? [] : group.filter((one) => isDueThere(one, now));
        if (due.length === 0) continue;
        const mine = new AbortController();
        busy.set(key, mine);
        void there(due, AbortSignal.any([signal, mine.signal]))
          .then(
            () => failures.delete(key),
            (error: Error) => {
              if (mine.signal.aborted) return;
              failedBecause(error);
              failures.set(key, (failures.get(key) ?? 0) + 1);
              if ((failures.get(key) ?? 0) < MOST_FAILURES)
                for (const { thread } of due) wantedAt.set(thread, Date.now() + RETRY_MS);
            },
          )
          .finally(() => busy.get(key) === mine && busy.delete(key));
      }
    },
    wanted: (thread) => void wantedAt.set(thread, wantedAt.get(thread) ?? Date.now()),
    news(host, news, threads) {
      if (news === 'moved') for (const thread of threads) movedAt.set(thread, Date.now());
      if (news !== 'reachable') return;
      // A look that an earlier connection has begun may wait for its end.
      for (const [key, looking] of busy) if (key.startsWith(`${host} `)) looking.abort();
      for (const key of failures.keys()) if (key.startsWith(`${host} `)) failures.delete(key);
      for (const thread of threads) lookedAt.delete(thread);
    },
    close: () => stopping.abort(),
  };
}

/** The panes of one tmux server: by their id, and the one that each session shows. */
interface IndexedPanes {
  readonly byId: ReadonlyMap<string, ListedPane>;
  readonly active: ReadonlyMap<string, ListedPane>;
}

function indexed(panes: readonly ListedPane[]): IndexedPanes {
  return {
    byId: new Map(panes.map((pane) => [pane.paneId, pane])),
    active: new Map(panes.filter(({ isActive }) => isActive).map((pane) => [sessionKey(pane), pane])),
  };
}

/** The recorded pane, or the one that its session shows now. */
function paneOf(record: ThreadRecord, { byId, active }: IndexedPanes): ListedPane | undefined {
  const own = byId.get(record.paneId);
  return own?.serverPid === record.serverPid ? own : active.get(sessionKey(record));
}

function byServer(records: readonly ThreadRecord[]): readonly (readonly ThreadRecord[])[] {
  const groups = new Map<string, ThreadRecord[]>();
  for (const record of records) {
    const group = groups.get(serverOf(record)) ?? [];
    groups.set(serverOf(record), group);
    group.push(record);
  }
  return [...groups.values()];
}

function serverOf(record: ThreadRecord | undefined): string {
  return `${record?.host} ${record?.socket}`;
}
