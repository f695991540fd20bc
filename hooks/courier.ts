// The courier: takes letters from the outbox, each pane's in order, and delivers them. One a host,
// by lock. A letter leaves the outbox only after it was delivered; one that cannot be stays first.

import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isThreadmuxError } from '../core/errors.ts';
import { createInTurn } from '../core/in-turn.ts';
import { pauseMs } from '../core/keep-trying.ts';
import type { Log } from '../core/log.ts';
import type { Home } from '../home/home.ts';
import { attempt } from '../home/keep.ts';
import { type Attempt, openAttempts } from './attempts.ts';
import { BEAT_MS, beat } from './courier-lock.ts';
import { type Letter, readLetter } from './letter.ts';
import type { ThreadOrder } from './order.ts';
import { openOutbox } from './outbox.ts';

interface CourierOptions {
  readonly home: Home;
  readonly log: Log;
  /** The letters of another host; left out: those of this machine, whose hooks look for a sign of life. */
  readonly outbox?: string;
  /** Tmux told of a session that was made, renamed or closed. */
  readonly onEvent?: () => void;
  /** Called as soon as a letter is there, before those in front of it are delivered; it may be called again. */
  readonly arrived: (letter: Letter) => void;
  /** `risky` is called before anything is done with the letter's text. */
  readonly deliver: (letter: Letter, risky: () => void) => Promise<void>;
  /** Does what the command line has ordered. */
  readonly obey?: (order: ThreadOrder) => Promise<void>;
  /** Says in the letter's thread that it was set aside. */
  readonly sayAside?: (letter: Letter, name: string) => Promise<void>;
  /** Whether something else is still under way, such as a turn that is followed. */
  readonly isBusy?: () => boolean;
  /** Leaves after so long with nothing to do; where the bridge runs, never. */
  readonly lingerMs: number;
  readonly signal: AbortSignal;
  readonly beatMs?: number;
}

const LOOK_MS = 2_000;
const SWEEP_MS = 3_600_000;
const PAUSES = { firstMs: 1_000, longestMs: 60_000 };
/** Unfinished attempts after which a letter is set aside. */
const DEADLY = 2;
/** A larger one may be deadly by its size alone. */
const LARGEST_READ = 16 * 2 ** 20;

/** Takes letters until it is told to stop or has had nothing to do for a while. Its caller holds the courier's lock. */
export async function runCourier(options: CourierOptions): Promise<void> {
  const { home, log, signal } = options;
  const outbox = openOutbox(options.outbox ?? home.folder('outbox'));
  const working = new Set<string>();
  const attempts = openAttempts(outbox.folder);
  const running = new Set<Attempt>();
  const alone = createInTurn();
  const told = new Set<string>();
  const announced = new Set<string>();
  /** Where the disk became read-only, a letter stays after its delivery, and must not be delivered again. */
  const delivered = new Set<string>();
  let busyAt = Date.now();

  async function work(box: string): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      const path = outbox.letters(box).find((one) => !told.has(one));
      if (path === undefined) return;
      try {
        await handle(path);
        failures = 0;
      } catch (error) {
        failures++;
        log.warn('letter waits', { box, failures, because: (error as Error).message });
        await sleep(pauseMs(failures, PAUSES), undefined, { signal }).catch(() => {});
      }
    }
  }

  async function handle(path: string): Promise<void> {
    const begun = attempts.begin(path);
    // Alone, so that one which was only handled at the same time as a deadly one proves to be harmless.
    if (begun.unfinished > 0) await alone('suspects', () => tryOnce(path, begun));
    else await tryOnce(path, begun);
  }

  async function tryOnce(path: string, begun: Attempt): Promise<void> {
    if (signal.aborted) return;
    if (begun.unfinished >= DEADLY) {
      await giveUp(path);
      return begun.end();
    }
    running.add(begun);
    begun.risky();
    try {
      await deliverOne(path, begun);
    } finally {
      running.delete(begun);
      begun.end();
    }
  }

  async function deliverOne(path: string, begun: Attempt): Promise<void> {
    const reading = readLetter(path);
    switch (reading.kind) {
      case 'newer':
        told.add(path);
        return log.warn('letter of a newer version left alone', { path });
      case 'corrupt':
        return log.error('corrupt letter set aside', {
          because: reading.why,
          kept: outbox.setAside(path),
        });
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
    announced.delete(path);
  }

  /** It is said first: if the server is away, the letter waits as any other does. */
  async function giveUp(path: string): Promise<void> {
    const reading = statSync(path).size > LARGEST_READ ? undefined : readLetter(path);
    if (reading?.kind === 'letter')
      await options.sayAside?.(reading.letter, basename(path)).catch((error: unknown) => {
        if (!isHopeless(error)) throw error;
      });
    log.error('letter set aside: the process died twice while handling it', {
      kept: outbox.setAside(path),
    });
  }

  function announce(box: string): void {
    for (const path of outbox.letters(box)) {
      if (announced.has(path)) continue;
      announced.add(path);
      try {
        if (statSync(path).size > LARGEST_READ) continue;
        const reading = readLetter(path);
        if (reading.kind === 'letter') options.arrived(reading.letter);
      } catch (error) {
        log.info('reading a letter', { because: (error as Error).message });
      }
    }
  }

  function start(box: string): void {
    announce(box);
    if (working.has(box)) return;
    working.add(box);
    void work(box).finally(() => {
      working.delete(box);
      busyAt = Date.now();
    });
  }

  const look = () => outbox.boxes().forEach(start);
  const sweep = () =>
    attempt(outbox.folder, () => {
      outbox.sweep();
      attempts.sweep();
    });
  sweep();
  const stopWatching = outbox.watch(start);
  const looking = setInterval(look, LOOK_MS);
  const beating =
    options.outbox === undefined
      ? setInterval(() => beat(home), options.beatMs ?? BEAT_MS)
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
    for (const begun of running) begun.end(); // asked to stop, not killed
  }
}

const FINISH_WITHIN_MS = 5_000;

async function idle(working: ReadonlySet<string>): Promise<void> {
  for (const began = Date.now(); working.size > 0 && Date.now() - began < FINISH_WITHIN_MS; )
    await sleep(20);
}

/** Refused as it is, it will be refused again: a fault of ours that must not stop the session's letters. */
function isHopeless(error: unknown): boolean {
  if (isThreadmuxError(error, 'name_refused')) return true; // a session whose name no title can hold
  return isThreadmuxError(error, 'discord_refused') && error.answer?.status === 400;
}
