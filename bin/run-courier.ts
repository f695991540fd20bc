// The courier with everything it needs: inside the bridge, or as a process of its own while the bridge is down. Only the
// bridge collects letters from other hosts.

import { setMaxListeners } from 'node:events';
import type { ServerConfig } from '../core/config.ts';
import { loadConfig } from '../home/config-file.ts';
import { loadLocalServer } from '../home/local-server.ts';
import { type CourierContexts, openCourierContexts } from '../hooks/courier-context.ts';
import { runCourier } from '../hooks/courier-loop.ts';
import { hostOutbox, putHostLetter } from '../hooks/host-letters.ts';
import { carryOutOrder } from '../hooks/letter.ts';
import { letterArrived, postLetter, postSetAsideNotice } from '../hooks/post-letter.ts';
import { type Collector, keepCollecting } from '../hosts/collect.ts';
import { openShared, type Shared } from '../threads/shared-parts.ts';
import type { CliContext } from './command-context.ts';
import { filesForHosts } from './files-for-hosts.ts';

interface RunningCourier {
  readonly lingerMs: number;
  readonly signal: AbortSignal;
  /** Also the letters of other hosts. */
  readonly collects?: boolean;
}

/** Takes letters until told to stop, or until there was nothing to do for a while. */
export async function runCourierHere(shared: Shared, work: RunningCourier): Promise<void> {
  const { hosts, config } = shared;
  const contexts = openCourierContexts(shared);
  setMaxListeners(0, work.signal); // every host has some; Node.js would warn of a leak
  const others = work.collects === true ? hosts.names().filter((one) => !hosts.isLocal(one)) : [];
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
  { home, log, prompts, sessionsChanged, threads }: Shared,
  contexts: CourierContexts,
  host: string,
  { lingerMs, signal }: RunningCourier,
  outbox?: string,
): Promise<void> {
  const context = contexts.of(host);
  return runCourier({
    ...{ home, log, lingerMs, signal },
    // Orders of the command line come from this machine only; another host speaks for its own panes alone.
    ...(outbox === undefined ? { obey: (order) => carryOutOrder(order, home, threads) } : { outbox }),
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

/** Our home there is made first; while the host is away that is tried again, with growing pauses. */
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
        ...{ host: hosts.get(host), home: await remote.home(host), signal },
        take: (box, name, letter) => putHostLetter(outbox, box, name, letter),
        onFull: () => log.warn('too much of a host waits to be posted; the rest stays there', { host }),
        onState(state) {
          if (state.kind === 'lost')
            return remote.heard(host, {
              ...{ kind: 'unreachable', since: state.at, because: state.because },
            });
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
  const servers = serversInForce(context);
  return openShared({
    ...{ home, config, log, env, servers },
    hostFiles: filesForHosts,
  });
}

const READ_AGAIN_MS = 2_000;

/** Letters that wait for a better token, or for the workspace to come up, must not need a restart. */
function serversInForce({ home, config, log, env }: CliContext): () => readonly ServerConfig[] {
  let { servers } = config;
  let readAt = Date.now();
  return () => {
    if (Date.now() - readAt >= READ_AGAIN_MS) {
      readAt = Date.now();
      try {
        const read = loadConfig(home, env).servers;
        if (JSON.stringify(read) !== JSON.stringify(servers)) servers = read;
      } catch (error) {
        log.warn('reading the configuration again', { because: (error as Error).message });
      }
    }
    const local = servers.length === 0 ? loadLocalServer(home) : undefined;
    return local === undefined ? servers : [local];
  };
}
