// The courier: delivers the letters of an outbox, in order per pane. One courier runs per home, by lock.
// A letter is removed only after its delivery; one that cannot be delivered yet stays first.

import { existsSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { isThreadmuxError } from '../core/errors.ts';
import { createConcurrencyLimit } from '../core/keyed-queue.ts';
import type { Log } from '../core/log.ts';
import { pauseMs } from '../core/retry-with-pauses.ts';
import { isOfClosedThread } from '../discord/threads.ts';
import { tryBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { LOCK_REFRESH_MS, refreshCourierLock } from './courier-lock.ts';
import { isOfBox, type Letter, type LetterReading, readLetter } from './letter.ts';
import type { Order } from './orders.ts';
import { type FailedLetter, openFailedLetters, openOutbox } from './outbox.ts';
import type { RiskTurns } from './risk-turns.ts';

interface CourierOptions {
  readonly home: Home;
  readonly log: Log;
  /** The outbox for letters of another host; by default this machine's, whose hooks check the heartbeat. */
  readonly outbox?: string;
  /** tmux reported that a session was created, renamed or closed. */
  readonly onEvent?: () => void;
  /** Called as soon as a letter arrives, before earlier letters are delivered; may be called more than once. */
  readonly arrived: (letter: Letter) => void;
  /** Shared by all couriers of this process. */
  readonly turns?: RiskTurns;
  /** Must call `risky`, and wait for it, before it processes the letter's text. */
  readonly deliver: (letter: Letter, risky: () => Promise<void>) => Promise<void>;
  /** Executes an order of the command line. */
  readonly obey?: (order: Order) => Promise<void>;
  /** Posts in the letter's thread that the letter was set aside. */
  readonly sayAside?: (letter: Letter, name: string) => Promise<void>;
  /** Whether something else is still in progress, such as following a turn. */
  readonly isBusy?: () => boolean;
  /** Exits after this long without work; never inside the bridge. */
  readonly lingerMs: number;
  readonly signal: AbortSignal;
  readonly beatMs?: number;
}

const LOOK_MS = 2_000;
const SWEEP_MS = 3_600_000;
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };
/** Unfinished attempts after which a letter is set aside. */
const DEADLY = 2;
/** A letter that we cannot handle because of a mistake of ours is set aside after so many attempts. */
const DEFECTS = 3;
/** Letters that are handled at the same time; a letter that waits for the next attempt does not count. */
const AT_ONCE = 200;
/** A larger letter could kill the process by its size alone. */
const LARGEST_READ = 16 * 2 ** 20;

/** Runs until it is aborted or has been idle for `lingerMs`. The caller must hold the courier's lock. */
export async function runCourier(options: CourierOptions): Promise<void> {
  const { home, log, signal } = options;
  const outbox = openOutbox(options.outbox ?? home.folder('outbox'));
  const working = new Set<string>();
  const attempts = openFailedLetters(outbox.folder, options.turns);
  const running = new Set<FailedLetter>();
  const someAtATime = createConcurrencyLimit(AT_ONCE);
  const skipped = new Set<string>();
  const announced = new Set<string>();
  /** If the disk has become read-only, a letter stays after its delivery and must not be delivered again. */
  const delivered = new Set<string>();
  let busyAt = Date.now();

  const isThere = (path: string) => !skipped.has(path) && existsSync(path);

  async function work(box: string): Promise<void> {
    // A folder with thousands of letters is not read again for each of them: new letters come after those that wait.
    let waiting: readonly string[] = [];
    for (let failures = 0, at = 0; !signal.aborted; ) {
      while (at < waiting.length && !isThere(waiting[at] ?? '')) at++;
      if (at === waiting.length) {
        waiting = outbox.letters(box).filter(isThere);
        at = 0;
      }
      const path = waiting[at];
      if (path === undefined) return;
      try {
        await someAtATime(() => nextTurn().then(() => handle(path)));
        failures = 0;
      } catch (error) {
        failures++;
        log.warn('letter waits', { box, failures, because: (error as Error).message });
        if (isDefect(error) && failures >= DEFECTS) await giveUp(path, 'threadmux has a defect').catch(() => {}); // tried again
        await sleep(pauseMs(failures, PAUSES), undefined, { signal }).catch(() => {});
      }
    }
  }

  async function handle(path: string): Promise<void> {
    if (signal.aborted) return;
    const begun = attempts.begin(path);
    if (begun.unfinished >= DEADLY) {
      await giveUp(path, 'the process died twice while handling it');
      return begun.end();
    }
    running.add(begun);
    try {
      await begun.risky();
      if (!signal.aborted) await deliverOne(path, begun);
    } finally {
      running.delete(begun);
      begun.end();
      if (!existsSync(path)) announced.delete(path);
    }
  }

  function read(path: string): LetterReading {
    const reading = readLetter(path);
    const isForeign = options.outbox !== undefined && reading.kind === 'letter';
    if (!isForeign || isOfBox(reading.letter, basename(dirname(path)))) return reading;
    return { kind: 'corrupt', why: 'it is not from the pane that it claims to be from' };
  }

  async function deliverOne(path: string, begun: FailedLetter): Promise<void> {
    const reading = read(path);
    switch (reading.kind) {
      case 'newer':
        skipped.add(path);
        return log.warn('letter of a newer version left alone', { path });
      case 'corrupt':
        return log.error('corrupt letter set aside', { because: reading.why, kept: outbox.setAside(path) });
      case 'event':
        options.onEvent?.();
        break;
      case 'order':
        if (!delivered.has(path)) await options.obey?.(reading.order);
        break;
      case 'letter':
        if (!delivered.has(path))
          await options.deliver(reading.letter, begun.risky).catch((error: unknown) => {
            if (!isHopeless(error)) throw error;
            log.error('letter refused for good, set aside', {
              because: (error as Error).message,
              kept: outbox.setAside(path),
            });
          });
    }
    delivered.add(path);
    outbox.remove(path);
    delivered.delete(path);
  }

  /** Tells the thread first: if the server is unreachable, the letter waits like any other. */
  async function giveUp(path: string, why: string): Promise<void> {
    const reading = statSync(path).size > LARGEST_READ ? undefined : read(path);
    if (reading?.kind === 'letter')
      await options.sayAside?.(reading.letter, basename(path)).catch((error: unknown) => {
        if (!isHopeless(error)) throw error;
      });
    log.error(`letter set aside: ${why}`, { kept: outbox.setAside(path) });
  }

  function announce(path: string): void {
    if (announced.has(path) || !existsSync(path)) return;
    announced.add(path);
    try {
      if (statSync(path).size > LARGEST_READ) return;
      const reading = read(path);
      if (reading.kind === 'letter') options.arrived(reading.letter);
    } catch (error) {
      log.info('reading a letter', { because: (error as Error).message });
    }
  }

  /** Without a letter, all of the folder are looked at. A flood must not make each letter read the whole folder. */
  function start(box: string, letter?: string): void {
    for (const path of letter === undefined ? outbox.letters(box) : [letter]) announce(path);
    if (working.has(box)) return;
    working.add(box);
    void work(box).finally(() => {
      working.delete(box);
      busyAt = Date.now();
    });
  }

  const look = () => {
    for (const box of outbox.boxes()) start(box);
  };
  const sweep = () =>
    tryBestEffort(outbox.folder, () => {
      outbox.sweep();
      attempts.sweep();
    });
  sweep();
  const stopWatching = outbox.watch(start);
  const looking = setInterval(look, LOOK_MS);
  const beating =
    options.outbox === undefined
      ? setInterval(() => refreshCourierLock(home), options.beatMs ?? LOCK_REFRESH_MS)
      : undefined;
  const sweeping = setInterval(sweep, SWEEP_MS);
  try {
    look();
    while (!signal.aborted) {
      if (working.size > 0 || options.isBusy?.()) busyAt = Date.now();
      if (Date.now() - busyAt >= options.lingerMs) break;
      await sleep(Math.min(1_000, options.lingerMs), undefined, { signal }).catch(() => {});
    }
  } finally {
    clearInterval(looking);
    clearInterval(sweeping);
    clearInterval(beating);
    stopWatching();
    await idle(working); // the next process must find nothing half done
    for (const begun of running) begun.end(); // stopped on request: no letter is to blame
  }
}

const FINISH_WITHIN_MS = 5_000;

async function idle(working: ReadonlySet<string>): Promise<void> {
  for (const began = Date.now(); working.size > 0 && Date.now() - began < FINISH_WITHIN_MS; ) await sleep(20);
}

/** Not a failure of the network or the disk: those have a cause or a code. */
function isDefect(error: unknown): boolean {
  return (error instanceof TypeError || error instanceof RangeError) && error.cause === undefined && !('code' in error);
}

/** The same request would be refused again. This is a bug of ours, and must not stop the session's other letters. */
function isHopeless(error: unknown): boolean {
  if (isThreadmuxError(error, 'name_refused')) return true; // the session's name does not fit into a title
  if (isOfClosedThread(error)) return false;
  return isThreadmuxError(error, 'discord_refused') && error.answer?.status === 400;
}
