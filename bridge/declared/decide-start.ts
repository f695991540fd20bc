// Decides when a declared session starts: what a look at tmux means for what we remember of it, and what to do then. Pure.
// test/bridge/declared/decide-start.test.ts has the tables.

import * as z from 'zod';

/** One run of a session. After a restart of tmux or of the host, the same ids can be another run. */
const runSchema = z.object({ serverPid: z.number(), sessionId: z.string(), createdAt: z.number(), paneId: z.string() });
export type SessionRun = Readonly<z.output<typeof runSchema>>;

/** What we remember of a declared session, also across restarts. */
export const memorySchema = z.object({
  /** The run that was seen last, until its end was noticed. */
  run: runSchema.optional(),
  /** It was ended on purpose, in this run; 'before' if it did not run then. */
  ended: z.union([runSchema, z.literal('before')]).optional(),
  /** The run that crashed last: tmux may keep its pane, and each look sees it again. */
  crashed: runSchema.optional(),
  /** When it ended without anybody wanting it. */
  crashes: z.array(z.number()).readonly().default([]),
  givenUp: z.boolean().default(false),
  /** The run that got the declared prompt. */
  prompted: z.string().optional(),
});
export type DeclaredMemory = Readonly<z.output<typeof memorySchema>>;

export const NOTHING_KNOWN: DeclaredMemory = { crashes: [], givenUp: false };

export type SeenRun =
  | { readonly is: 'alive'; readonly run: SessionRun }
  /** Its program has exited, and tmux kept the pane. Without a status, a signal ended it. */
  | { readonly is: 'exited'; readonly run: SessionRun; readonly status: number | undefined }
  | { readonly is: 'gone' };

interface LookFacts {
  readonly now: number;
  /** `threadmux kill` ended it. */
  readonly isMarked: boolean;
  /** The first look since the bridge started: nobody watched before. */
  readonly isFirst: boolean;
}

interface LookMeaning {
  readonly memory: DeclaredMemory;
  readonly happened: 'nothing' | 'ended' | 'crashed';
}

export function afterLook(memory: DeclaredMemory, seen: SeenRun, facts: LookFacts): LookMeaning {
  if (seen.is === 'alive') {
    if (isSameRun(memory.run, seen.run) || isSameRun(memory.ended, seen.run)) return { memory, happened: 'nothing' };
    // Somebody started it.
    const { prompted } = memory;
    return { memory: { run: seen.run, crashes: [], givenUp: false, prompted }, happened: 'nothing' };
  }
  const { run: last, ...rest } = memory;
  const run = seen.is === 'exited' ? seen.run : last;
  if (run === undefined) return { memory: facts.isMarked ? { ...rest, ended: 'before' } : rest, happened: 'nothing' };
  if (isSameRun(memory.ended, run) || isSameRun(memory.crashed, run)) return { memory: rest, happened: 'nothing' };
  if (facts.isMarked || (seen.is === 'exited' && seen.status === 0))
    return { memory: { ...rest, ended: run }, happened: 'ended' };
  // The machine was restarted.
  if (seen.is === 'gone' && facts.isFirst) return { memory: rest, happened: 'nothing' };
  return { memory: { ...withCrash(rest, facts.now), crashed: run }, happened: 'crashed' };
}

export function withCrash(memory: DeclaredMemory, now: number): DeclaredMemory {
  return { ...memory, crashes: [...memory.crashes.filter((at) => now - at < HOUR_MS), now] };
}

/** When the bridge starts: what was given up more than an hour ago is tried again. */
export function atBridgeStart(memory: DeclaredMemory, now: number): DeclaredMemory {
  const crashes = memory.crashes.filter((at) => now - at < HOUR_MS);
  return { ...memory, crashes, givenUp: memory.givenUp && crashes.length > 0 };
}

interface StartFacts {
  readonly start: 'auto' | 'manual';
  /** Undefined if its host could not be asked. */
  readonly isThere: boolean | undefined;
  readonly memory: DeclaredMemory;
  readonly now: number;
  /** After the first crash, the second one …; as many crashes as there are pauses, and one more, are too many. */
  readonly pausesMs?: readonly number[] | undefined;
}

export type StartDecision =
  | { readonly do: 'start' }
  | { readonly do: 'wait'; readonly until: number }
  | { readonly do: 'give up' }
  | { readonly do: 'nothing' };

const HOUR_MS = 3_600_000;
const PAUSES_MS = [1_000, 5_000, 30_000, 120_000];

export function decideStart({ start, isThere, memory, now, pausesMs = PAUSES_MS }: StartFacts): StartDecision {
  if (isThere !== false || start === 'manual' || memory.ended !== undefined || memory.givenUp) return { do: 'nothing' };
  const recent = memory.crashes.filter((at) => now - at < HOUR_MS);
  const last = recent.at(-1);
  if (last === undefined) return { do: 'start' };
  const pause = pausesMs[recent.length - 1];
  if (pause === undefined) return { do: 'give up' };
  return now < last + pause ? { do: 'wait', until: last + pause } : { do: 'start' };
}

/** Why a declared session does not run. */
export function whyNot(
  start: StartFacts['start'],
  { ended, givenUp }: DeclaredMemory,
  isStarting: boolean,
): 'stopped' | 'manual' | 'given up' | 'starting' {
  if (isStarting) return 'starting';
  if (givenUp) return 'given up';
  if (ended !== undefined) return 'stopped';
  return start === 'manual' ? 'manual' : 'starting';
}

export function isSameRun(a: SessionRun | 'before' | undefined, b: Omit<SessionRun, 'paneId'> | undefined): boolean {
  if (a === undefined || a === 'before' || b === undefined) return false;
  return a.serverPid === b.serverPid && a.sessionId === b.sessionId && a.createdAt === b.createdAt;
}

/** Whether `threadmux kill` ended this run. */
export function isMarkOf(mark: { readonly serverPid: number; readonly sessionId: string }, run: SessionRun): boolean {
  return mark.serverPid === run.serverPid && mark.sessionId === run.sessionId;
}

export function runText({ serverPid, sessionId, createdAt }: Omit<SessionRun, 'paneId'>): string {
  return `${serverPid}:${sessionId}:${createdAt}`;
}

export function runOf(session: {
  readonly id: string;
  readonly serverPid: number;
  readonly createdAt: number;
  readonly pane: { readonly id: string };
}): SessionRun {
  const { id, serverPid, createdAt, pane } = session;
  return { serverPid, sessionId: id, createdAt, paneId: pane.id };
}
