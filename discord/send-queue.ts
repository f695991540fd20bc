// Requests that wait for rate limits, in one list with one timer, so that a new limit also applies to requests that
// wait already.

import { createRateLimits, type Endpoint, type RateLimitAnswer, type RateLimitTicket } from './rate-limits.ts';
import { unreachable } from './response.ts';

interface SendQueue {
  /** Resolves when the request may be sent. It must then be sent and ended. */
  turn(route: Endpoint, signals: readonly AbortSignal[]): Promise<RateLimitTicket>;
  ended(ticket: RateLimitTicket, answer: RateLimitAnswer | undefined): void;
  blocked(route: Endpoint, scope: 'route' | 'everything', ms: number): void;
}

interface Waiting {
  readonly route: Endpoint;
  go(ticket: RateLimitTicket): void;
}

/** The longest delay of a Node.js timer. */
const LONGEST_MS = 2 ** 31 - 1;

export function createSendQueue(onSlowed: (isSlowed: boolean) => void, perSecond?: number): SendQueue {
  const limits = createRateLimits(perSecond);
  const now = () => performance.now(); // the wall clock may be set back
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isSlowed = false;
  let isLooking = false;

  function look(): void {
    isLooking = false;
    clearTimeout(timer);
    while (waiting.length > 0) {
      const next = limits.next(waiting, now());
      if ('waitMs' in next) {
        if (next.waitMs < Number.POSITIVE_INFINITY)
          timer = setTimeout(look, Math.min(Math.ceil(next.waitMs), LONGEST_MS));
        return;
      }
      remove(next.send);
      next.send.go(limits.sent(next.send.route, now()));
    }
  }

  /** Looks once for many changes at the same time. */
  function lookSoon(): void {
    if (isLooking) return;
    isLooking = true;
    queueMicrotask(look);
  }

  function remove(one: Waiting): void {
    waiting = waiting.filter((other) => other !== one);
  }

  return {
    turn: (route, signals) =>
      new Promise((resolve, reject) => {
        const one: Waiting = {
          route,
          go: (ticket) => {
            stop();
            resolve(ticket);
          },
        };
        waiting.push(one);
        const stop = onAbort(signals, (reason) => {
          remove(one);
          reject(unreachable('waiting to send: stopped', reason));
          lookSoon();
        });
        lookSoon();
      }),

    ended(ticket, answer) {
      limits.ended(ticket, answer, now());
      const slowed = limits.isSlowed(now());
      if (slowed !== isSlowed) onSlowed(slowed);
      isSlowed = slowed;
      lookSoon();
    },

    blocked: (route, scope, ms) => limits.blocked(route, scope, ms, now()),
  };
}

// Listens to several signals. A signal from AbortSignal.any would stay in memory as long as its sources.

/** Calls `act` once when one of them is aborted, with its reason. Returns the function that stops listening. */
export function onAbort(signals: readonly AbortSignal[], act: (reason: unknown) => void): () => void {
  const stop = () => {
    for (const signal of signals) signal.removeEventListener('abort', tell);
  };
  const tell = () => {
    stop();
    act(signals.find(({ aborted }) => aborted)?.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', tell);
  if (signals.some(({ aborted }) => aborted)) tell();
  return stop;
}
