// The courier with everything it needs: inside the bridge, or as a process of its own while the bridge is down.

import type { Server } from '../core/config.ts';
import { loadConfig } from '../home/config-file.ts';
import { loadLocalServer } from '../home/local-server.ts';
import { openCourierContext } from '../hooks/context.ts';
import { runCourier } from '../hooks/courier.ts';
import { arrived, deliver, sayAside } from '../hooks/deliver.ts';
import { obey } from '../hooks/order.ts';
import { openShared, type Shared } from '../threads/shared.ts';
import type { Context } from './context.ts';

/** Takes letters until told to stop, or until there was nothing to do for a while. */
export async function workAsCourier(
  shared: Shared,
  options: { readonly lingerMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { home, log, prompts } = shared;
  const context = openCourierContext(shared);
  try {
    await runCourier({
      ...{ home, log, ...options },
      arrived: (letter) => arrived(letter, context),
      deliver: (letter, risky) => deliver(letter, context, risky),
      obey: (order) => obey(order, home, shared.threads),
      sayAside: (letter, name) => sayAside(letter, context, name),
      isBusy: () => context.progress.isBusy() || prompts.isBusy(),
    });
  } finally {
    context.progress.close();
  }
}

export function openSharedParts(context: Context): Shared {
  const { home, config, log, env } = context;
  return openShared({ home, config, log, env, servers: serversInForce(context) });
}

const READ_AGAIN_MS = 2_000;

/** Letters that wait for a better token, or for the workspace to come up, must not need a restart. */
function serversInForce({ home, config, log, env }: Context): () => readonly Server[] {
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
