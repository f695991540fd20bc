// threadmux thread: opens or archives the thread of a session; the session goes on as it was. The process that posts
// does it, because it alone writes the registry: this command leaves an order and waits for what becomes of it.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ThreadmuxError } from '../../core/errors.ts';
import { readJson } from '../../home/whole-file.ts';
import {
  type OrderOutcome,
  orderLetter,
  orderOutcomeSchema,
  outcomePath,
  type ThreadOrder,
} from '../../hooks/letter.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { socketOf, toSessionPane } from '../../threads/panes.ts';
import { findTarget, openSessionFinder, type SessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, withProgress } from '../print.ts';
import { startCourier } from '../start-courier.ts';

interface ThreadFlags {
  readonly host?: string;
  readonly json?: boolean;
  /** How long to wait for the outcome, in seconds. */
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
      : `The thread of ${where} is archived. It opens again when its session speaks or you write there.`,
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
  return new ThreadmuxError(
    'discord_unreachable',
    `the order to ${order} the thread of ${where} waits: it could not be carried out yet`,
    { hint: 'It is done as soon as the server answers. `threadmux logs` tells what it waits for.' },
  );
}

function notDone({ outcome, because }: OrderOutcome, where: string): ThreadmuxError {
  if (outcome === 'none')
    return new ThreadmuxError('not_found', `${where} has no thread`, {
      hint: '`threadmux thread open` makes one.',
    });
  if (outcome === 'nowhere')
    return new ThreadmuxError('not_found', `no channel takes sessions of the directory of ${where}`, {
      hint: 'Add the directory to "projects" in the configuration.',
    });
  return new ThreadmuxError('discord_refused', because);
}
