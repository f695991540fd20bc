// The courier with everything it needs, for a process of its own and for the bridge's.

import { loadLocalServer } from '../home/local-server.ts';
import { runCourier } from '../hooks/courier.ts';
import { deliver } from '../hooks/deliver.ts';
import { type Desk, openDesk } from '../hooks/desk.ts';
import { localHost } from '../tmux/host.ts';
import type { Context } from './context.ts';

export function courierDesk(context: Context): Desk {
  const { home, config, log } = context;
  return openDesk({
    home,
    config,
    log,
    servers: () => {
      const local = config.servers.length === 0 ? loadLocalServer(home) : undefined;
      return local === undefined ? config.servers : [local];
    },
    host: localHost({ name: config.host, env: process.env }),
  });
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
      deliver: (letter) => deliver(letter, desk),
      isBusy: () => desk.progress.isBusy(),
    });
  } finally {
    await desk.close();
  }
}
