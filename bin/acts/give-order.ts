// Gives an order to the process that posts, and waits for its outcome. The order is a file: it is carried out after a restart, too.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FoundSessions } from '../../bridge/commands/sessions.ts';
import { newRequestId } from '../../bridge/program-requests.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { readJson } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import {
  type Order,
  type OrderOutcome,
  orderLetter,
  orderOutcomeSchema,
  outcomePath,
  type ThreadOrder,
} from '../../hooks/orders.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { toSessionPane } from '../../threads/panes.ts';
import { openHookContext } from '../command-context.ts';
import { startCourier } from '../running.ts';

const LOOK_MS = 50;

/** `paneId`: the pane whose letters come before it. */
export function giveOrder(home: Home, order: Order, paneId = order.session.paneId): void {
  const { serverPid } = order.session;
  openOutbox(home.folder('outbox')).add(`${serverPid}.${paneId.replace('%', '')}`, orderLetter(order));
  startCourier();
}

/** Opens or archives the thread of a session. */
export function orderThreadOf(
  { host, session, record }: FoundSessions,
  order: ThreadOrder['order'],
  home: Home,
): ThreadOrder {
  const pane = toSessionPane(host, record?.socket ?? session.socket, session);
  const given = { id: newRequestId(), order, session: { ...pane, group: session.group } };
  giveOrder(home, given, record?.paneId);
  return given;
}

/** Undefined if it is not carried out yet. */
export function takeOutcome(home: Home, order: Pick<Order, 'id'>): OrderOutcome | undefined {
  const path = outcomePath(home, order);
  const outcome = readJson(path, orderOutcomeSchema);
  if (outcome !== undefined) rmSync(path, { force: true });
  return outcome;
}

/** Undefined if it takes longer; then it is carried out later. */
export async function outcomeWithin(home: Home, order: Order, waitMs: number): Promise<OrderOutcome | undefined> {
  for (const deadline = Date.now() + waitMs; Date.now() < deadline; await sleep(LOOK_MS)) {
    const outcome = takeOutcome(home, order);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** The error for an order about the thread of `where` that could not be carried out. */
export function orderFailure({ outcome, because }: OrderOutcome, where: string): ThreadmuxError {
  if (outcome === 'none')
    return new ThreadmuxError('not_found', `${where} has no thread`, {
      hint: 'Run `threadmux thread open` to create one.',
    });
  if (outcome === 'nowhere' && openHookContext('cli').servers.length === 0)
    return new ThreadmuxError('not_running', 'threadmux was never started here, so there are no threads', {
      hint: 'Start it with `threadmux up`.',
    });
  if (outcome === 'nowhere')
    return new ThreadmuxError('not_found', `no channel is configured for the directory of ${where}`, {
      hint: 'Add the directory to "projects" in config.json.',
    });
  return new ThreadmuxError('discord_refused', because);
}
