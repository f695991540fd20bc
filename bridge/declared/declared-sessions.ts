// Keeps the declared sessions of one server running: looks at their hosts, notices what has ended and why, and starts what should run. There are never two of
// one name: tmux itself refuses the second, and a session of this name that somebody else started counts.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseSessionName } from '../../core/session-name.ts';
import { hasEndMarks, readEndMark, removeEndMark } from '../../home/ended-on-purpose.ts';
import { rememberedSession } from '../../threads/remembered-session.ts';
import { type BegunSession, beginSession } from '../commands/new.ts';
import {
  afterLook,
  atBridgeStart,
  type DeclaredMemory,
  decideStart,
  isMarkOf,
  isSameRun,
  runOf,
  runText,
  whyNot,
  withCrash,
} from './decide-start.ts';
import { type DeclaredPlace, declaredOf } from './declared-list.ts';
import { openDeclaredMemory } from './declared-memory.ts';
import type { DeclaredOptions, DeclaredSessions } from './declared-parts.ts';
import { createRunLooks, type HostRuns, removeExited, stopKeepingPane } from './find-run.ts';
import { givePrompt, postPrompt } from './give-prompt.ts';
import { createStartQueue } from './start-queue.ts';
import { closeQuietly, tellEnd, tellFailedStart } from './tell-end.ts';
import { createTimedLooks } from './timed-looks.ts';

/** Here a look costs two processes. Another host says when a pane there has changed; that may get lost. */
const HERE_MS = 3_000;
const THERE_MS = 5 * 60_000;
/** A pane of an agent that works changes all the time. */
const MOVED_MS = 5_000;
const RETRY_MS = 10_000;
const SOON_MS = 200;
const CLOSE_MS = 1_500;

const keyOf = ({ host, name }: { readonly host: string; readonly name: string }) => `${host} ${name}`;

export function createDeclaredSessions(options: DeclaredOptions): DeclaredSessions {
  const { home, config, hosts, threads, remote, server, log, context } = options;
  const { registry } = threads;
  const memory = openDeclaredMemory(options.path);
  const runsOn = createRunLooks(hosts, registry);
  const there = new Map<string, boolean>();
  const seenHosts = new Set<string>();
  const listeners: (() => void)[] = [];
  let isOpen = false;
  let declared: readonly DeclaredPlace[] = declaredNow();

  function declaredNow(): readonly DeclaredPlace[] {
    const servers = threads.connections.all().map((one) => one.server);
    return declaredOf(config, servers, server.name);
  }

  const changed = () => {
    for (const listener of listeners) listener();
  };

  function remember(place: DeclaredPlace, now: DeclaredMemory): void {
    if (now !== memory.get(keyOf(place)) && memory.set(keyOf(place), now)) changed();
  }

  const starts = createStartQueue(changed);
  const looks = createTimedLooks(look, (host, error) => {
    log.info('declared sessions', { host, because: error.message });
    looks.in(host, RETRY_MS);
  });

  const lookEverywhere = () => {
    for (const host of new Set(declared.map((place) => place.host))) looks.in(host, SOON_MS);
  };

  async function look(host: string): Promise<void> {
    const mine = declared.filter((place) => place.host === host);
    if (!isOpen || mine.length === 0) return;
    if (remote.state(host).kind === 'unreachable') return; // looked at when it is back
    const began = Date.now();
    const runs = await runsOn(host);
    const hasMarks = hasEndMarks(home);
    const isFirst = !seenHosts.has(host);
    seenHosts.add(host);
    const isKnown = (key: string) => !starts.isStarting(key) && starts.lastStart(key) < began;
    await Promise.all(mine.map((place) => isKnown(keyOf(place)) && lookAt(place, runs, isFirst, hasMarks)));
    looks.in(host, hosts.isLocal(host) ? HERE_MS : THERE_MS);
  }

  async function lookAt(place: DeclaredPlace, runs: HostRuns, isFirst: boolean, hasMarks: boolean): Promise<void> {
    const before = memory.get(keyOf(place));
    const { seen, pane } = runs.find(place.name, before.run);
    const mark = hasMarks ? readEndMark(home, place) : undefined;
    const isMarked = mark !== undefined && (before.run === undefined || isMarkOf(mark, before.run));
    const { memory: now, happened } = afterLook(before, seen, { now: Date.now(), isMarked, isFirst });
    const isOver = seen.is !== 'alive';
    if (mark !== undefined && (isOver || !isMarkOf(mark, seen.run))) removeEndMark(home, place);
    remember(place, now);
    setThere(place, !isOver);
    if (seen.is === 'alive' && pane !== undefined) {
      const prompted = await givePrompt({ place, pane, memory: now }, context());
      const last = memory.get(keyOf(place));
      return last.prompted === prompted ? undefined : remember(place, { ...last, prompted });
    }
    if (happened === 'crashed')
      await tellEnd({ place, pane, run: before.run, next: decide(place), crashes: now.crashes }, options);
    if (pane !== undefined && (await removeExited(hosts, pane))) options.sessionsChanged.tell();
    if (isFirst && before.run !== undefined && happened === 'nothing') closeQuietly(place, before.run, registry);
    act(place);
  }

  function decide({ start, ...place }: DeclaredPlace) {
    const isThere = there.get(keyOf(place));
    const facts = { start, isThere, memory: memory.get(keyOf(place)), now: Date.now() };
    return decideStart({ ...facts, pausesMs: options.pausesMs });
  }

  function act(place: DeclaredPlace): void {
    const next = decide(place);
    if (next.do === 'give up') remember(place, { ...memory.get(keyOf(place)), givenUp: true });
    if (next.do === 'wait') looks.in(place.host, Math.max(50, next.until - Date.now()));
    if (next.do === 'start') void startByItself(place);
  }

  function setThere(place: DeclaredPlace, isThere: boolean): void {
    if (there.get(keyOf(place)) === isThere) return;
    there.set(keyOf(place), isThere);
    changed();
  }

  async function startByItself(place: DeclaredPlace): Promise<void> {
    const begun = starts.inTurn(keyOf(place), place.host, async (runs) => {
      // Somebody may have started or ended it while it waited for its turn, or changed the configuration.
      const now = isOpen ? placeOf(place) : undefined;
      if (now !== undefined && decide(now).do === 'start') await begin(now, runs);
    });
    await begun.catch((error: Error) => {
      log.info('starting a declared session', { session: place.label, because: error.message });
      if (remote.state(place.host).kind === 'unreachable' || !isOpen) return;
      remember(place, withCrash(memory.get(keyOf(place)), Date.now()));
      tellFailedStart({ place, error, next: decide(place), crashes: memory.get(keyOf(place)).crashes }, options);
      act(place);
    });
    looks.in(place.host, SOON_MS);
  }

  async function begin(place: DeclaredPlace, runs?: () => void): Promise<BegunSession> {
    const { host, directory, project } = place;
    const name = parseSessionName(place.name);
    const ours = registry.all().filter((one) => one.server === server.name);
    const before = rememberedSession(ours, { name, host, defaultHost: host });
    const { begun } = await beginSession(
      { name, host, directory, command: undefined, before, project, runs },
      context(),
    );
    if (begun.is === 'there') return begun;
    const run = runOf(begun.session);
    const { ended, ...known } = memory.get(keyOf(place));
    // Somebody may have ended it while its worktree was set up.
    remember(place, { ...known, run, ...(isSameRun(ended, run) ? { ended } : {}) });
    setThere(place, true);
    if (placeOf(place) === undefined) release(place);
    return begun;
  }

  /** Somebody wants it. */
  function startNow<T>(place: DeclaredPlace, act: (place: DeclaredPlace) => Promise<T>): Promise<T> {
    const started = starts.once(keyOf(place), () => {
      const { ended: _, ...known } = memory.get(keyOf(place));
      remember(place, { ...known, crashes: [], givenUp: false });
      return act(place);
    });
    return started.finally(() => looks.in(place.host, SOON_MS));
  }

  /** It is no longer declared. */
  function release(place: DeclaredPlace): void {
    runsOn(place.host)
      .then((runs) => stopKeepingPane(hosts, place, memory.get(keyOf(place)).run, runs))
      .catch((error: Error) => log.info('a session that is no longer declared', { because: error.message }));
  }

  function onConfig(): void {
    const old = declared;
    declared = declaredNow();
    for (const place of old) if (placeOf(place) === undefined) release(place);
    changed();
    lookEverywhere();
  }

  const placeOf = (session: Parameters<typeof keyOf>[0]) => declared.find((one) => keyOf(one) === keyOf(session));
  const whyNotNow = (place: DeclaredPlace) =>
    whyNot(place.start, memory.get(keyOf(place)), starts.isStarting(keyOf(place)));

  return {
    all: () => declared,
    statuses: () =>
      declared.map((place) => {
        const isThere = there.get(keyOf(place));
        return { place, isThere, because: isThere ? undefined : whyNotNow(place) };
      }),
    isExpected(session) {
      const place = placeOf(session);
      return place !== undefined && whyNotNow(place) === 'starting';
    },
    start: (place) => startNow(place, begin),
    startFor: (place, message) =>
      startNow(place, async () => {
        const begun = await begin(place);
        if (begun.is === 'there' || place.prompt === undefined) return { begun, first: undefined };
        const run = runText(runOf(begun.session));
        const prompt = { text: place.prompt, thread: begun.thread, run, before: message };
        const first = await postPrompt(prompt, context());
        if (first !== undefined) context().store(first);
        remember(place, { ...memory.get(keyOf(place)), prompted: run });
        return { begun, first };
      }),
    ending({ host, name, run }) {
      const place = placeOf({ host, name });
      if (place === undefined) return () => {};
      const before = memory.get(keyOf(place));
      remember(place, { ...before, ended: run ?? before.run ?? 'before' });
      looks.in(host, SOON_MS);
      return () => remember(place, before);
    },
    onChange: (listener) => void listeners.push(listener),
    begin() {
      isOpen = true;
      for (const place of declared) remember(place, atBridgeStart(memory.get(keyOf(place)), Date.now()));
      options.sessionsChanged.listen(lookEverywhere);
      options.states.onState((thread, { state }) => {
        const record = state === 'ended' ? registry.get(thread) : undefined;
        if (declared.some(({ host }) => host === record?.host)) looks.in(record?.host ?? '', SOON_MS);
      });
      remote.onNews((host, news) => looks.in(host, news === 'moved' ? MOVED_MS : SOON_MS));
      options.live?.onReport((about) => 'applied' in about && onConfig());
      lookEverywhere();
    },
    async close() {
      isOpen = false;
      // What has begun ends soon; a start that somebody waits for does not.
      await Promise.race([Promise.all([starts.settled(), looks.close()]), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}
