// Runs the courier: inside the bridge, or as its own process while the bridge is down. Only the bridge collects letters from
// other hosts.

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentContext } from '../agents/claude/hook-commands.ts';
import type { ServerConfig } from '../core/config.ts';
import { keepTrying } from '../core/retry-with-pauses.ts';
import { tryBestEffort, writeWhole } from '../home/atomic-write.ts';
import { createLocalServerReader } from '../home/config-file.ts';
import { type LiveConfig, openLiveConfig } from '../home/live-config.ts';
import { holderOf } from '../home/lock.ts';
import { type CourierContexts, openCourierContexts } from '../hooks/courier-context.ts';
import { takeCourierLock } from '../hooks/courier-lock.ts';
import { runCourier } from '../hooks/courier-loop.ts';
import { hostOutbox, putHostLetter } from '../hooks/host-letters.ts';
import { parseLetter } from '../hooks/letter.ts';
import { obeyOrder } from '../hooks/obey-order.ts';
import { openOutbox } from '../hooks/outbox.ts';
import { letterArrived, postLetter, postSetAsideNotice } from '../hooks/post-letter.ts';
import { createRiskTurns, type RiskTurns } from '../hooks/risk-turns.ts';
import { type Collector, keepCollecting } from '../hosts/collect-letters.ts';
import { filesForHosts } from '../install/program-files.ts';
import { openShared, type Shared } from '../threads/shared-services.ts';
import { panesPrint } from '../tmux/look.ts';
import { type CliContext, openHookContext } from './command-context.ts';

interface RunningCourier {
  readonly lingerMs: number;
  readonly signal: AbortSignal;
  /** Also collects letters from other hosts. */
  readonly collects?: boolean;
  readonly turns?: RiskTurns;
}

/** Delivers letters until the signal, or until there was nothing to do for `lingerMs`. */
export async function runCourierHere(shared: Shared, given: RunningCourier): Promise<void> {
  const work = { ...given, turns: createRiskTurns() };
  const { hosts, config } = shared;
  const contexts = openCourierContexts(shared);
  setMaxListeners(0, work.signal); // each host adds listeners; Node.js would warn about a leak
  const others = work.collects === true ? hosts.names().filter((one) => !hosts.isLocal(one)) : [];
  tryBestEffort(shared.home.root, () => writeWhole(shared.home.path('agent-context'), agentContext(config.tellAgent)));
  contexts.takeUp([config.host, ...others]);
  try {
    await Promise.all([
      take(shared, contexts, config.host, work),
      ...others.map((host) => takeFrom(shared, contexts, host, work)),
    ]);
  } finally {
    contexts.progress.close();
  }
}

function take(
  { home, log, prompts, sessionsChanged }: Shared,
  contexts: CourierContexts,
  host: string,
  work: RunningCourier,
  outbox?: string,
): Promise<void> {
  const context = contexts.of(host);
  return runCourier({
    ...work,
    home,
    log,
    // Only this machine may give orders; another host may only report on its own panes.
    ...(outbox === undefined ? { obey: (order) => obeyOrder(order, context) } : { outbox }),
    onEvent: sessionsChanged.tell,
    arrived: (letter) => letterArrived(letter, context),
    deliver: (letter, risky) => postLetter(letter, context, risky),
    sayAside: (letter, name) => postSetAsideNotice(letter, context, name),
    isBusy: () => contexts.progress.isBusy() || prompts.isBusy(),
  });
}

async function takeFrom(shared: Shared, contexts: CourierContexts, host: string, work: RunningCourier): Promise<void> {
  const outbox = hostOutbox(shared.home, host);
  const collecting = collectFrom(shared, host, outbox, work.signal);
  await take(shared, contexts, host, work, outbox);
  await collecting;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** Creates our home on the host first. While the host is unreachable, tries again with growing pauses. */
async function collectFrom(
  { hosts, remote, sessionsChanged, log }: Shared,
  host: string,
  outbox: string,
  signal: AbortSignal,
): Promise<void> {
  let collector: Collector | undefined;
  const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  for (let pauseMs = FIRST_MS; !signal.aborted && collector === undefined; ) {
    try {
      collector = keepCollecting({
        host: hosts.get(host),
        home: await remote.home(host),
        signal,
        compared: panesPrint(hosts.tmux(host)),
        onMoved: () => remote.moved(host),
        take: (box, name, letter) => putHostLetter(outbox, box, name, letter),
        onFull: () => log.warn('too many letters of a host are waiting; the rest stays on the host', { host }),
        onState(state) {
          if (state.kind === 'lost')
            return remote.heard(host, { kind: 'unreachable', since: state.at, because: state.because });
          remote.heard(host, { kind: 'reachable' });
          sessionsChanged.tell();
        },
      });
    } catch (error) {
      const because = (error as Error).message;
      remote.heard(host, { kind: 'unreachable', since: Date.now(), because });
      await pause(pauseMs, signal, (tryNow) => remote.onWanted(host, tryNow));
      pauseMs = Math.min(LONGEST_MS, 2 * pauseMs);
    }
  }
  if (collector === undefined) return;
  remote.onWanted(host, collector.tryNow);
  await stopped;
  await collector.close();
}

function pause(ms: number, signal: AbortSignal, onWanted: (tryNow: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    onWanted(end);
  });
}

export function openSharedParts(context: CliContext): Shared {
  const { home, config, log, env } = context;
  const live = openLiveConfig(home, env, config);
  live.onReport((about) => {
    if ('problem' in about) log.warn('cannot read the configuration again', { because: about.problem });
    else log.info('configuration', { applied: about.applied.join(' '), needRestart: about.needRestart.join(' ') });
  });
  const local = createLocalServerReader(home);
  return openShared({
    ...context,
    live,
    servers: () => serversInForce(context, live, local),
    hostFiles: (name) => filesForHosts(name, config.tellAgent),
  });
}

/** A new token or workspace takes effect without a restart. */
function serversInForce(
  { config }: CliContext,
  live: LiveConfig,
  readLocal: ReturnType<typeof createLocalServerReader>,
): readonly ServerConfig[] {
  live.check();
  const local = config.servers.length === 0 ? readLocal(config) : undefined;
  return local === undefined ? config.servers : [local];
}

// The courier as its own process: delivers the letter that it was given, if any, then the outbox.

const LINGER_MS = 60_000;
const SAVE_TRIES = 3;
const LOCK_TRIES = 20;
const DELIVERY_TRIES = 20;

export async function runCourierProcess(letter: string, token: string): Promise<void> {
  try {
    const context = openHookContext('courier', token);
    const { home, log } = context;
    const isSaved = letter === '' || (await savedSoon(context, letter));
    const stop = new AbortController();
    process.once('SIGTERM', () => stop.abort());
    const isHeld = () => holderOf(home.path('state', 'courier.lock')) !== undefined;
    let release = await takeCourierLock({ home, log });
    // A letter that could not be saved (full disk) exists only in this process: wait for the lock.
    for (let tries = 0; release === undefined && !isSaved && isHeld(); tries++) {
      if (tries >= LOCK_TRIES) break;
      await sleep(1_000);
      if (saved(context, letter)) return;
      release = await takeCourierLock({ home, log });
    }
    if (release === undefined && isSaved) return;
    const shared = openSharedParts(context);
    if (release === undefined) {
      // The lock could not be written either. Deliver the reply, so that it is not lost, and do nothing else.
      await deliverUnsaved(shared, letter);
      process.exit();
    }
    try {
      shared.prompts.takeUp();
      if (!isSaved) await deliverUnsaved(shared, letter);
      await runCourierHere(shared, { lingerMs: LINGER_MS, signal: stop.signal });
    } finally {
      await shared.close();
      release();
    }
  } catch (error) {
    logFailure(error as Error);
    process.exitCode = 1;
  }
}

async function savedSoon(context: CliContext, letter: string): Promise<boolean> {
  for (let tries = 0; tries < SAVE_TRIES; tries++) {
    if (saved(context, letter)) return true;
    await sleep(1_000);
  }
  return false;
}

async function deliverUnsaved(shared: Shared, letter: string): Promise<void> {
  const { log } = shared;
  const reading = parseLetter(letter, randomBytes(12).toString('hex'), Date.now());
  if (reading.kind !== 'letter') return log.error('cannot read an unsaved letter');
  const context = openCourierContexts(shared).of(shared.config.host);
  await keepTrying(() => postLetter(reading.letter, context), {
    firstMs: 1_000,
    longestMs: 60_000,
    onFailure(error, failures) {
      log.warn('cannot deliver an unsaved letter yet', { because: (error as Error).message });
      if (failures >= DELIVERY_TRIES) throw error;
    },
  });
}

function saved({ home }: CliContext, letter: string): boolean {
  const [, tmux = '', pane = ''] = letter.split('\n');
  const server = tmux.match(/,(\d+),\d+$/)?.[1] ?? '0';
  try {
    openOutbox(home.folder('outbox')).add(`${server}.${pane.replace('%', '')}`, letter);
    return true;
  } catch {
    return false;
  }
}

function logFailure(error: Error): void {
  try {
    openHookContext('courier').log.error('courier failed', { because: error.message });
  } catch {
    // Without a readable configuration there is no log.
  }
}
