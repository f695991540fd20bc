// The courier with everything it needs, for a process of its own and for the bridge's.

import type { Server } from '../core/config.ts';
import { loadConfig } from '../home/config-file.ts';
import { loadLocalServer } from '../home/local-server.ts';
import { runCourier } from '../hooks/courier.ts';
import { deliver, sayAside } from '../hooks/deliver.ts';
import { type Desk, openDesk } from '../hooks/desk.ts';
import { localHost } from '../tmux/host.ts';
import type { Context } from './context.ts';

export function courierDesk(context: Context): Desk {
  const { home, config, log } = context;
  return openDesk({
    home,
    config,
    log,
    servers: serversInForce(context),
    host: localHost({ name: config.host, env: process.env }),
  });
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
        servers = loadConfig(home, env).servers;
      } catch (error) {
        log.warn('reading the configuration again', { because: (error as Error).message });
      }
    }
    const local = servers.length === 0 ? loadLocalServer(home) : undefined;
    return local === undefined ? servers : [local];
  };
}

export async function beCourier(
  context: Context,
  lingerMs: number,
  signal: AbortSignal,
): Promise<void> {
  const desk = courierDesk(context);
  const { home, log } = context;
  try {
    await runCourier({
      home,
      log,
      lingerMs,
      signal,
      deliver: (letter, risky) => deliver(letter, desk, risky),
      sayAside: (letter, name) => sayAside(letter, desk, name),
      isBusy: () => desk.progress.isBusy(),
    });
  } finally {
    await desk.close();
  }
}
