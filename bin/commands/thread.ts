// threadmux thread and auto. thread opens or archives the thread of a session. Only the process that posts writes the registry,
// so this command leaves an order for it and waits for the result.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ThreadmuxError } from '../../core/errors.ts';
import { readJson } from '../../home/atomic-write.ts';
import { loadAutoThreads, saveAutoThreads } from '../../home/installed.ts';
import {
  type OrderOutcome,
  orderLetter,
  orderOutcomeSchema,
  outcomePath,
  type ThreadOrder,
} from '../../hooks/orders.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { socketOf, toSessionPane } from '../../threads/panes.ts';
import { openContext } from '../command-context.ts';
import { findTarget, openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, printText, withProgress } from '../print.ts';
import { startCourier } from '../running.ts';

interface ThreadFlags {
  readonly host?: string;
  readonly json?: boolean;
  /** How long to wait for the result, in seconds. */
  readonly wait: number;
}

const LOOK_MS = 50;

export async function orderThread(
  order: ThreadOrder['order'],
  name: string | undefined,
  flags: ThreadFlags,
): Promise<void> {
  const reach = openSessionFinder();
  const { host, session, record } = await findTarget(reach, name, flags.host);
  const socket = record?.socket ?? (await socketOf(reach.hosts, host)) ?? '';
  const given: ThreadOrder = {
    ...{ id: randomBytes(16).toString('hex'), order },
    session: toSessionPane(host, socket, session),
  };
  const box = `${session.serverPid}.${(record?.paneId ?? session.pane.id).replace('%', '')}`;
  openOutbox(reach.home.folder('outbox')).add(box, orderLetter(given));
  startCourier();
  const doing = order === 'open' ? 'opening the thread' : 'archiving the thread';
  const done = await withProgress(doing, outcomeOf(given, reach, flags));
  const where = `${printable(session.name)} on ${host}`;
  if (done === undefined) throw stillWaiting(order, where);
  if (done.outcome !== 'opened' && done.outcome !== 'closed') throw notDone(done, where);
  if (flags.json) return printJson({ host, name: session.name, outcome: done.outcome, thread: done.thread });
  printNote(
    done.outcome === 'opened'
      ? `The thread of ${where} is open.`
      : `The thread of ${where} is archived. It opens again when the session reports something or you write in it.`,
  );
}

async function outcomeOf(
  order: ThreadOrder,
  { home }: SessionFinder,
  { wait }: ThreadFlags,
): Promise<OrderOutcome | undefined> {
  const path = outcomePath(home, order);
  for (const deadline = Date.now() + wait * 1_000; Date.now() < deadline; await sleep(LOOK_MS)) {
    const outcome = readJson(path, orderOutcomeSchema);
    if (outcome === undefined) continue;
    rmSync(path, { force: true });
    return outcome;
  }
  return undefined;
}

function stillWaiting(order: ThreadOrder['order'], where: string): ThreadmuxError {
  return new ThreadmuxError('discord_unreachable', `cannot ${order} the thread of ${where} yet`, {
    hint: 'threadmux keeps trying. Run `threadmux logs` to see why it waits.',
  });
}

function notDone({ outcome, because }: OrderOutcome, where: string): ThreadmuxError {
  if (outcome === 'none')
    return new ThreadmuxError('not_found', `${where} has no thread`, {
      hint: 'Run `threadmux thread open` to create one.',
    });
  if (outcome === 'nowhere')
    return new ThreadmuxError('not_found', `no channel is configured for the directory of ${where}`, {
      hint: 'Add the directory to "projects" in config.json.',
    });
  return new ThreadmuxError('discord_refused', because);
}

/** Shows or sets whether every tmux session gets a thread. */
export function auto(to: string | undefined, flags: { readonly json?: boolean }): void {
  const { home } = openContext('cli');
  if (to !== undefined) saveAutoThreads(home, to === 'on');
  const on = loadAutoThreads(home);
  if (flags.json) return printJson({ on });
  printText(on ? 'on' : 'off');
  printNote(
    on
      ? 'Every tmux session gets a thread. The thread is archived when the session closes.'
      : 'Only sessions that run an agent with hooks, or that threadmux starts, get a thread.',
  );
}
