// Tells the addresses in "notify" when a session needs a person, is done or has failed. Nothing waits for them, and what cannot be sent within
// a few minutes is dropped.

import { setTimeout as sleep } from 'node:timers/promises';
import { pauseMs } from '../core/retry-with-pauses.ts';
import { shownAddress, type Webhook, type WebhookNews, webhookEvent, webhookRequest } from '../core/webhook.ts';
import type { TimedState } from '../threads/session-state.ts';
import type { Shared } from '../threads/shared-services.ts';
import type { SessionStates } from '../threads/watch-panes.ts';

const PAUSES = { firstMs: 1_000, longestMs: 60_000 };
const TRIES = 6;
const TIMEOUT_MS = 10_000;
/** Of all addresses together. */
const MOST_WAITING = 100;
/** Of one other host in a minute: it must not fill the room of the others, or a phone. */
const MOST_OF_A_HOST = 30;
const MINUTE_MS = 60_000;
/** The screen may show the end of a turn before the hook says that it has failed. */
const SETTLE_MS = 1_000;

/** `before`: the states when the last process ended, so that nothing is told twice. */
export function startWebhooks(
  { config, threads, log }: Pick<Shared, 'config' | 'threads' | 'log'>,
  states: Pick<SessionStates, 'onState'>,
  before: ReadonlyMap<string, TimedState>,
): { close(): void } {
  const closing = new AbortController();
  const { signal } = closing;
  const last = new Map([...before].map(([thread, { state }]) => [thread, state as string]));
  let waiting = 0;
  const sentFor = new Map<string, readonly number[]>();

  /** Remembers it as sent. */
  function isTooMuch(host: string): boolean {
    if (host === config.host) return false;
    const lately = (sentFor.get(host) ?? []).filter((at) => Date.now() - at < MINUTE_MS);
    if (lately.length >= MOST_OF_A_HOST) return true;
    sentFor.set(host, [...lately, Date.now()]);
    return false;
  }

  states.onState((thread, now) => {
    const known = last.get(thread);
    last.set(thread, now.state);
    if (webhookEvent(known, now.state, false) === undefined) return;
    const tell = () => told(thread, known, now);
    if (now.state === 'idle') setTimeout(tell, SETTLE_MS).unref();
    else tell();
  });

  function told(thread: string, known: string | undefined, { state, for: what, since }: TimedState): void {
    const record = threads.registry.get(thread);
    const event = record && webhookEvent(known, state, record.failedAt === record.at);
    if (record === undefined || event === undefined) return;
    if (isTooMuch(record.host)) return log.warn('a notification was dropped: its host has too many', { thread });
    const news = { event, session: record.sessionName, host: record.host, for: what ?? null, thread, at: since };
    for (const hook of config.notify.filter(({ on }) => on.includes(event))) void send(hook, news);
  }

  async function send(hook: Webhook, news: WebhookNews): Promise<void> {
    const address = shownAddress(hook.url);
    if (waiting >= MOST_WAITING) return log.warn('a notification was dropped: too many wait', { address });
    waiting++;
    try {
      for (let failures = 1; failures <= TRIES && !signal.aborted; failures++) {
        const problem = await attempt(hook, news);
        if (problem === undefined) return;
        log.info('a notification was not taken', { address, failures, because: problem.because });
        if (problem.isFinal) return;
        await sleep(pauseMs(failures, PAUSES), undefined, { signal, ref: false }).catch(() => {});
      }
    } finally {
      waiting--;
    }
  }

  /** Undefined if it was taken. The reason never contains the address, which may be a secret. */
  async function attempt(hook: Webhook, news: WebhookNews) {
    try {
      const limits = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const { address, ...request } = webhookRequest(hook, news);
      const response = await fetch(address, { method: 'POST', redirect: 'error', signal: limits, ...request });
      await response.body?.cancel();
      if (response.ok) return undefined;
      const isFinal = response.status >= 400 && response.status < 500 && response.status !== 429;
      return { because: `status ${response.status}`, isFinal };
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } };
      return { because: (cause as { code?: string } | undefined)?.code ?? name, isFinal: false };
    }
  }

  return { close: () => closing.abort() };
}
