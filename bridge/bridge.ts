// Starts the bridge: one side per server, and what all of them share.

import type { Gateway } from '../discord/gateway.ts';
import { startLifecycle } from '../threads/lifecycle.ts';
import { noteBranches } from '../threads/note-branches.ts';
import type { Shared } from '../threads/shared-services.ts';
import { loadStates, saveStates } from '../threads/stored-states.ts';
import { type SessionStates, watchPanes } from '../threads/watch-panes.ts';
import type { BridgeOptions } from './bridge-options.ts';
import { carryOutRequests } from './carry-out-requests.ts';
import { tellConfigChanges } from './config-notices.ts';
import { createDebouncedWrite } from './debounced-write.ts';
import { openGateways } from './open-gateways.ts';
import type { Panels } from './panel/panels.ts';
import { startServer } from './start-server.ts';
import { startWebhooks } from './webhooks.ts';
import { startWorktreeEnds } from './worktree-ends.ts';

/** A burst of changes is one write. */
const STATES_MS = 100;

export interface Bridge {
  /** One per bot token. */
  readonly gateways: readonly Gateway[];
  readonly states: SessionStates;
  /** All sessions, for the page of the local workspace. */
  readonly onView: Panels['onView'];
  close(): Promise<void>;
}

export async function startBridge(shared: Shared, options: BridgeOptions): Promise<Bridge> {
  const before = loadStates(shared.home);
  const states = watchPanes(shared, before);
  const webhooks = startWebhooks(shared, states, before);
  const file = createDebouncedWrite(() => saveStates(shared.home, states.all()), STATES_MS);
  states.onState(() => file.set(undefined));
  noteBranches(shared, states);
  const parts = { ...shared, states };
  const sides = await Promise.all(options.servers.map((server) => startServer(server, parts, options)));
  shared.prompts.takeUp();
  for (const side of sides) await side.takeUp();
  const { gateways, close: disconnect } = openGateways(sides, { ...shared, onFatal: options.onFatal });
  const worktreeEnds = startWorktreeEnds(shared);
  const requests = carryOutRequests(
    shared,
    sides.map(({ context }) => context),
  );
  const lifecycle = startLifecycle({ ...shared, known: sides.map(({ known }) => known), startsMs: options.startsMs });
  // An agent may exit without a report, and tmux may have no hooks of ours.
  states.onScreen((_, { look }) => look.kind === 'gone' && shared.sessionsChanged.tell());
  tellConfigChanges(shared);
  return {
    gateways,
    states,
    onView: (listener) => sides.forEach(({ panels }) => void panels.onView(listener)),
    async close() {
      requests.close();
      webhooks.close();
      states.close();
      file.flush();
      lifecycle.close();
      shared.live?.close();
      worktreeEnds.close();
      await Promise.all(sides.map((side) => side.close()));
      disconnect();
    },
  };
}
