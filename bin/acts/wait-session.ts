// Waits until a session is idle, needs a person or has ended. It reads the states that the bridge writes, and believes them only if the
// screen says the same now: the bridge looks once a second. While the bridge is down, it looks at the pane alone, so it survives a
// restart of the bridge.

import { setTimeout as sleep } from 'node:timers/promises';
import { findSessions } from '../../bridge/commands/sessions.ts';
import { isThreadmuxError } from '../../core/errors.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { readingOf, type StateName } from '../../threads/session-state.ts';
import { loadStates, type ShownState, shownStates } from '../../threads/stored-states.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { paneOf, recordNow, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { bridgePid } from '../running.ts';
import { lastReply } from './last-reply.ts';

interface WaitResult {
  readonly state: 'idle' | 'needs_person' | 'ended' | 'timeout';
  /** For `needs_person`: what for. For `timeout`: what the session does now. */
  readonly about: string | null;
}

interface WaitOptions {
  readonly timeoutMs: number;
  /** Something was submitted at this time: an older "idle" does not count. */
  readonly since?: number;
  readonly signal?: AbortSignal;
}

const LOOK_MS = 250;
/** Each look is a connection. */
const REMOTE_LOOK_MS = 2_000;
const TIMEOUT_MS = 15_000;
/** A look may catch a half-drawn screen. */
const IN_A_ROW = 2;
/** A prompt need not be on the screen. It counts if the bridge still says so after it has looked again. */
const LOOKS_AGAIN_WITHIN_MS = 2_500;
/** A session that was just started may still show its shell. */
const STARTS_WITHIN_MS = 15_000;

async function waitForSession(
  target: SessionTarget,
  finder: SessionFinder,
  { timeoutMs, since = 0, signal }: WaitOptions,
): Promise<WaitResult> {
  const deadline = Date.now() + timeoutMs;
  for (let before = '', times = 0, from = 0, last: StateName = 'starting'; ; ) {
    const seen = await look(target, finder);
    const meaning = seen === undefined ? undefined : meaningOf(seen, target, since);
    const isAgain = meaning !== undefined && meaning.state === before;
    times = isAgain ? times + 1 : 1;
    from = isAgain ? from : Date.now();
    before = meaning?.state ?? '';
    last = seen?.state.state ?? last;
    if (meaning !== undefined && seen !== undefined && (await isTrueNow(seen, target, { times, from }))) return meaning;
    if (Date.now() >= deadline) return { state: 'timeout', about: last };
    const isCheap = finder.hosts.isLocal(target.host) || (seen?.by === 'bridge' && meaning === undefined);
    const pauseMs = Math.min(isCheap ? LOOK_MS : REMOTE_LOOK_MS, Math.max(1, deadline - Date.now()));
    await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
  }
}

interface Look {
  readonly state: ShownState;
  readonly record: ThreadRecord | undefined;
  /** What says so. `end`: the session no longer exists. */
  readonly by: 'bridge' | 'screen' | 'end';
}

/** Undefined if nothing is known now: the host is away. */
async function look(target: SessionTarget, finder: SessionFinder): Promise<Look | undefined> {
  const record = recordNow(finder.home, target);
  if (record?.closed) return { state: { state: 'ended' }, record, by: 'end' };
  const watched =
    record && bridgePid(finder.home) !== undefined ? loadStates(finder.home).get(record.thread) : undefined;
  if (watched !== undefined) return { state: watched, record, by: 'bridge' };
  return unlessAway(async () => {
    const found = await findSessions(
      target.host,
      { ...finder, records: record === undefined ? [] : [record] },
      TIMEOUT_MS,
    );
    const { id, serverPid } = target.session;
    const own = found.find(({ session }) => session.id === id && session.serverPid === serverPid);
    if (own === undefined) return { state: { state: 'ended' }, record, by: 'end' };
    const [state] = await shownStates(finder.hosts.tmux(target.host), [own], () => undefined, TIMEOUT_MS);
    return state && { state, record, by: 'screen' };
  });
}

async function isTrueNow(
  { state, record, by }: Look,
  target: SessionTarget,
  { times, from }: { readonly times: number; readonly from: number },
): Promise<boolean> {
  if (by === 'end' || state.state === 'ended') return true;
  if (by === 'screen' || record === undefined) return times >= IN_A_ROW;
  const seen = await unlessAway(() => lookAtPane(target.tmux, paneOf({ ...target, record })));
  if (seen === undefined || seen.kind === 'gone') return false;
  const { screen, isAgent } = readPane({ ...seen, mode: undefined }, record);
  const reading = readingOf(screen, isAgent);
  if (reading === undefined || reading.state === state.state) return true;
  return state.state === 'needs_person' && Date.now() - from >= LOOKS_AGAIN_WITHIN_MS;
}

async function unlessAway<Seen>(act: () => Promise<Seen>): Promise<Seen | undefined> {
  try {
    return await act();
  } catch (error) {
    if (isThreadmuxError(error, 'host_unreachable')) return undefined;
    throw error;
  }
}

/** Undefined: go on waiting. */
function meaningOf({ state, record }: Look, { session }: SessionTarget, since: number): WaitResult | undefined {
  switch (state.state) {
    case 'idle':
      return isOutdatedIdle(state, record, since, Date.now()) ? undefined : { state: 'idle', about: null };
    case 'needs_person':
      return { state: 'needs_person', about: state.for ?? 'dialog' };
    case 'ended':
      return { state: 'ended', about: null };
    case 'shell':
      return Date.now() - session.createdAt < STARTS_WITHIN_MS ? undefined : { state: 'ended', about: 'shell' };
    default:
      return undefined;
  }
}

type IdleRecord = Pick<ThreadRecord, 'claudeSession' | 'state' | 'at' | 'submitted'>;

/** Something was submitted after the session became idle, and what is known is older than that. */
export function isOutdatedIdle(
  { since: idleSince }: Pick<ShownState, 'since'>,
  record: IdleRecord | undefined,
  since: number,
  now: number,
): boolean {
  const reportedAt = record?.submitted?.at(-1)?.at ?? 0;
  const submittedAt = Math.max(since, reportedAt);
  if (record !== undefined && record.claudeSession !== '' && record.state !== 'working' && record.at >= submittedAt)
    // An agent that is still starting reports its start after the text was typed, and only then the text.
    return reportedAt < since && now - record.at < SEEN_WITHIN_MS;
  const ageMs = now - submittedAt;
  if (idleSince === undefined) return ageMs < SHOWN_WITHIN_MS;
  // What no hook reports (a slash command, an agent without hooks) may be over before anybody sees it.
  return idleSince < submittedAt && (reportedAt >= since ? reportedAt > 0 : ageMs < SEEN_WITHIN_MS);
}

/** So long after Enter, the screen shows that the agent works. */
const SHOWN_WITHIN_MS = 1_000;
const SEEN_WITHIN_MS = 5_000;

export interface WaitedReply extends WaitResult {
  /** Null if there is none, or the agent has not finished. */
  readonly reply: string | null;
}

/** The transcript may be written a moment after the end of the turn. */
const SETTLE_MS = 1_500;

/** Also reads its reply. */
export async function waitForReply(
  target: SessionTarget,
  finder: SessionFinder,
  options: WaitOptions,
): Promise<WaitedReply> {
  const waited = await waitForSession(target, finder, options);
  const isOver = waited.state === 'idle' || waited.state === 'ended';
  const reply = isOver ? await lastReply(target, finder, SETTLE_MS) : undefined;
  return { ...waited, reply: reply?.text ?? null };
}
