// threadmux thread and auto. thread opens or archives the thread of a session. Only the process that posts writes the registry,
// so this command leaves an order for it and waits for the result.

import { ThreadmuxError } from '../../core/errors.ts';
import { loadAutoThreads, saveAutoThreads } from '../../home/installed.ts';
import type { ThreadOrder } from '../../hooks/orders.ts';
import { orderFailure, orderThreadOf, outcomeWithin } from '../acts/give-order.ts';
import { openContext } from '../command-context.ts';
import type { SessionFlags } from '../command-line.ts';
import { findTarget, openSessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, printText, withProgress } from '../print.ts';

interface ThreadFlags extends SessionFlags {
  /** How long to wait for the result, in seconds. */
  readonly wait: number;
}

export async function orderThread(
  order: ThreadOrder['order'],
  name: string | undefined,
  flags: ThreadFlags,
): Promise<void> {
  const finder = openSessionFinder();
  const target = await findTarget(finder, name, flags.host);
  const { host, session } = target;
  const given = orderThreadOf(target, order, finder.home);
  const doing = order === 'open' ? 'opening the thread' : 'archiving the thread';
  const done = await withProgress(doing, outcomeWithin(finder.home, given, flags.wait * 1_000));
  const where = `${printable(session.name)} on ${host}`;
  if (done === undefined) throw stillWaiting(order, where);
  if (done.outcome !== 'opened' && done.outcome !== 'closed') throw orderFailure(done, where);
  if (flags.json) return printJson({ host, name: session.name, outcome: done.outcome, thread: done.thread });
  printNote(
    done.outcome === 'opened'
      ? `The thread of ${where} is open.`
      : `The thread of ${where} is archived. It opens again when the session reports something or you write in it.`,
  );
}

function stillWaiting(order: ThreadOrder['order'], where: string): ThreadmuxError {
  return new ThreadmuxError('discord_unreachable', `cannot ${order} the thread of ${where} yet`, {
    hint: 'threadmux keeps trying. Run `threadmux logs` to see why it waits.',
  });
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
