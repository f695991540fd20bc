// Watches the panes of all threads and tells what changes: the state of each session, and what its screen shows.
//
// - `onState` is called within a second of a change here, and at once for what hooks, prompts and messages report.
// - `onScreen` is called when a pane shows something else than before: twice in a row, so that no half-drawn screen is told. With
//   `look.kind === 'gone'` the pane has ended. A status line or a spinner alone is no change (see `screenFingerprint`).
//
// This machine is looked at about once a second. Other hosts say when a pane moves (hosts/collect-letters-script.ts).

import type { AgentScreen } from '../agents/screen.ts';
import { screenFingerprint } from '../agents/screen-fingerprint.ts';
import type { LookResult } from '../tmux/look.ts';
import { createLooks, type PaneLooks } from './look-rounds.ts';
import { readPane } from './read-pane.ts';
import type { ThreadRecord } from './registry.ts';
import {
  addReading,
  isSameState,
  isUnsure,
  readingOf,
  type SeenPane,
  type SessionState,
  type StateName,
  stateOfSession,
  type TimedState,
} from './session-state.ts';
import type { Shared } from './shared-services.ts';

interface WatchedScreen {
  readonly record: ThreadRecord;
  readonly look: LookResult;
  /** Read as if the pane were not in copy mode. */
  readonly screen: AgentScreen;
  readonly isAgent: boolean;
}

export interface SessionStates {
  /** Undefined for a thread that is no session, or whose session was closed before the start. */
  get(thread: string): TimedState | undefined;
  all(): ReadonlyMap<string, TimedState>;
  onState(listener: (thread: string, state: TimedState) => void): void;
  onScreen(listener: (thread: string, seen: WatchedScreen) => void): void;
  /** A message waits to be typed, until the registry has its delivery or the result is called. */
  delivering(thread: string, deliveryId: string): () => void;
  /** Threads without a pane to look at, which know their state themselves. */
  also(list: () => readonly (readonly [thread: string, state: SessionState])[]): void;
  /** Something happened there, such as a key. */
  lookSoon(thread: string): void;
  close(): void;
}

const EVERY_MS = 700;
/** While a session on this machine works or waits. */
const ACTIVE_MS = 400;
/** After a report. */
const AGAIN_MS = 100;
const MOVES = ['paneId', 'panePid', 'closed'] as const;
const REPORTS = ['state', 'at', 'deliveries'] as const;
const ACTIVE: readonly StateName[] = ['starting', 'working', 'needs_person', 'delivering'];

/** `before`: the states when the last process ended, so that they keep their time. */
export function watchPanes(
  { threads, hosts, remote, prompts, log }: Pick<Shared, 'threads' | 'hosts' | 'remote' | 'prompts' | 'log'>,
  before: ReadonlyMap<string, TimedState> = new Map(),
): SessionStates {
  const { registry } = threads;
  const views = new Map<string, SeenPane>();
  const states = new Map<string, TimedState>();
  const waiting = new Map<string, Set<string>>();
  const onState: ((thread: string, state: TimedState) => void)[] = [];
  const others: Parameters<SessionStates['also']>[0][] = [];
  const onScreen: ((thread: string, seen: WatchedScreen) => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let isLooking = false;
  let isClosed = false;

  const looks: PaneLooks = createLooks({
    hosts,
    log,
    isAway: (host) => remote.state(host).kind === 'unreachable',
    isActive,
    isUnsure: (thread) => isUnsure(viewOf(thread)),
    changedAt: (thread) => states.get(thread)?.since ?? 0,
    took,
    again: () => looks.roundThere(live()),
    unchanged(thread, at) {
      const view = viewOf(thread);
      view.isOver = false;
      if (view.seen !== undefined && view.next === undefined) view.seen = { ...view.seen, at };
    },
  });

  function live(): readonly ThreadRecord[] {
    return registry.all().filter((one) => !one.closed && one.shell !== 'terminal');
  }

  function isActive(thread: string): boolean {
    return ACTIVE.includes(states.get(thread)?.state ?? 'starting');
  }

  function viewOf(thread: string): SeenPane {
    const view = views.get(thread) ?? {};
    views.set(thread, view);
    return view;
  }

  function took(record: ThreadRecord, look: LookResult, at: number): void {
    if (isClosed || registry.get(record.thread)?.panePid !== record.panePid) return; // it has another pane by now
    const view = viewOf(record.thread);
    if (view.isStale) view.seen = undefined;
    view.isStale = false;
    view.isOver = look.kind === 'gone' || look.dead;
    if (look.kind === 'gone') {
      view.seen = undefined;
      return told(record, view, 'gone', { record, look, screen: { kind: 'dead' }, isAgent: false });
    }
    const isOwn = look.panePid === record.panePid;
    const { screen, isAgent, driver } = readPane(
      { ...look, mode: undefined },
      isOwn ? record : { ...record, claudeSession: '', shell: 'found' },
    );
    // It was recognised by its program or screen: no hook has said who it is.
    if (isAgent && isOwn && driver.name !== record.agent) registry.change(record.thread, { agent: driver.name });
    addReading(view, readingOf(screen, isAgent), at);
    const print = screenFingerprint(record.paneId, look, driver.screen);
    if (print === view.print || look.dead) told(record, view, print, { record, look, screen, isAgent });
    view.print = print;
    publish(record.thread);
  }

  function told(record: ThreadRecord, view: SeenPane, print: string, seen: WatchedScreen): void {
    view.print = print;
    if (view.told === print) return;
    view.told = print;
    for (const listener of onScreen) listener(record.thread, seen);
    publish(record.thread);
  }

  function publish(thread: string): void {
    const record = registry.get(thread);
    if (record === undefined || record.shell === 'terminal' || isClosed) return;
    const isHere = hosts.isLocal(record.host);
    const view = viewOf(thread);
    // Until it was looked at again, nothing is known of a host that was away.
    if (!isHere && remote.state(record.host).kind === 'unreachable') view.isStale = true;
    if (isHere && view.isOver === undefined && !record.closed) return; // not looked at yet
    const ids = waiting.get(thread);
    const state = stateOfSession({
      record,
      seen: view.seen,
      isOver: view.isOver,
      now: Date.now(),
      isHostAway: view.isStale === true,
      prompts: prompts.inThread(thread),
      waiting: ids === undefined ? 0 : [...ids].filter((id) => !record.deliveries.some((one) => one.id === id)).length,
    });
    tell(thread, state);
  }

  function tell(thread: string, state: SessionState): void {
    const last = states.get(thread);
    if (last !== undefined && isSameState(last, state)) return;
    const known = last ?? before.get(thread);
    const timed = { ...state, since: known !== undefined && isSameState(known, state) ? known.since : Date.now() };
    states.set(thread, timed);
    for (const listener of onState) listener(thread, timed);
  }

  function lookSoon(thread: string): void {
    looks.wanted(thread);
    schedule(AGAIN_MS);
  }

  function schedule(ms: number): void {
    dueAt = Math.min(dueAt, Date.now() + ms);
    clearTimeout(timer);
    if (!isLooking && !isClosed) timer = setTimeout(round, dueAt - Date.now()).unref();
  }

  async function round(): Promise<void> {
    dueAt = Number.POSITIVE_INFINITY;
    isLooking = true;
    const watched = live();
    looks.roundThere(watched);
    await looks.roundHere(watched);
    isLooking = false;
    if (isClosed) return;
    for (const { thread } of watched) publish(thread);
    const streams = tellOthers();
    for (const thread of states.keys()) {
      if (registry.get(thread) !== undefined || streams.has(thread)) continue;
      views.delete(thread);
      states.delete(thread);
    }
    const isBusyHere = watched.some(({ thread, host }) => hosts.isLocal(host) && isActive(thread));
    schedule(isBusyHere ? ACTIVE_MS : EVERY_MS);
  }

  function tellOthers(): ReadonlySet<string> {
    const all = others.flatMap((list) => list());
    for (const [thread, state] of all) tell(thread, state);
    return new Set(all.map(([thread]) => thread));
  }

  /** Its hooks report everything but dialogs, and a look costs an exec on another host. */
  const isReportedThere = (record: ThreadRecord) => !hosts.isLocal(record.host) && record.claudeSession !== '';

  registry.onChange((record, old) => {
    if (record.panePid !== old?.panePid || record.serverPid !== old.serverPid) views.delete(record.thread);
    publish(record.thread);
    const fields = isReportedThere(record) ? MOVES : [...MOVES, ...REPORTS];
    if (fields.some((field) => record[field] !== old?.[field]) && !record.closed) lookSoon(record.thread);
  });
  remote.onNews((host, news) => {
    const threads = live().flatMap((one) => (one.host === host ? [one.thread] : []));
    looks.news(host, news, threads);
    for (const thread of threads) publish(thread);
    looks.roundThere(live());
  });
  schedule(0);

  return {
    get(thread) {
      tellOthers();
      return states.get(thread);
    },
    all: () => states,
    onState: (listener) => void onState.push(listener),
    onScreen: (listener) => void onScreen.push(listener),
    also: (list) => void others.push(list),
    lookSoon,
    delivering(thread, id) {
      const ids = waiting.get(thread) ?? new Set();
      waiting.set(thread, ids.add(id));
      publish(thread);
      return () => {
        ids.delete(id);
        if (ids.size === 0) waiting.delete(thread);
        publish(thread);
        const record = registry.get(thread);
        if (record !== undefined && !isReportedThere(record)) lookSoon(thread);
      };
    },
    close() {
      isClosed = true;
      clearTimeout(timer);
      looks.close();
    },
  };
}
