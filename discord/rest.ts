// One authorised client for Discord's REST API. It waits out limits before and after they bite,
// repeats what may be repeated, keeps the order of requests to one route, and never sends a token
// that was refused again.

import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { isThreadmuxError, type ThreadmuxError } from '../core/errors.ts';
import { createInTurn } from '../core/in-turn.ts';
import { type Log, silentLog } from '../core/log.ts';
import { addressOf } from './address.ts';
import { openPool } from './http-pool.ts';
import { multipartBody, type Upload } from './multipart-body.ts';
import { createRateLimits } from './rate-limits.ts';
import { isRepeatable, type Method, type Route, routeOf } from './route.ts';
import { USER_AGENT } from './user-agent.ts';
import { type Answer, backoffMs, judge, unreachable } from './verdict.ts';

export type { Upload };

export interface CallOptions {
  readonly body?: unknown;
  readonly files?: readonly Upload[];
  /** How long to go on after the first failure that is not a rate limit. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

export interface Rest {
  /** Resolves with the parsed answer (undefined for an empty one); rejects with a ThreadmuxError. */
  call(method: Method, path: string, options?: CallOptions): Promise<unknown>;
  /** The Unix socket that everything goes through, the gateway too; undefined for a server on the network. */
  readonly socketPath?: string | undefined;
  close(): Promise<void>;
}

export interface RestOptions {
  readonly token: string;
  readonly api: string;
  readonly log?: Log;
  readonly timeoutMs?: number;
  readonly patienceMs?: number;
}

export function connectRest(options: RestOptions): Rest {
  const base = addressOf(options.api);
  const log = options.log ?? silentLog;
  const timeoutMs = options.timeoutMs ?? 15_000;
  const pool = openPool(base, timeoutMs);
  const limits = createRateLimits();
  /** The order of the calls is the order of the messages. */
  const inTurn = createInTurn();
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // as many as there are requests waiting
  let deadToken: ThreadmuxError | undefined;

  async function send(method: Method, path: string, call: CallOptions): Promise<Answer> {
    const { payload, headers: payloadHeaders } = payloadOf(call);
    const request: Dispatcher.RequestOptions = {
      method,
      path: base.path.replace(/\/$/, '') + path,
      headers: {
        'user-agent': USER_AGENT,
        ...(path.startsWith('/interactions/') || path.startsWith('/webhooks/')
          ? {}
          : { authorization: `Bot ${options.token}` }),
        ...payloadHeaders,
      },
      body: payload,
      headersTimeout: call.files?.length ? timeoutMs * 8 : timeoutMs,
      bodyTimeout: timeoutMs,
      signal: call.signal,
    };
    const { statusCode, headers, body } = await pool.request(request);
    return { status: statusCode, headers, body: await body.text() };
  }

  async function attempt(route: Route, method: Method, path: string, call: CallOptions) {
    const what = `${method} ${path.replace(/^\/(webhooks|interactions)\/(\d+)\/[^/]+/, '/$1/$2/…')}`;
    const patienceMs = call.patienceMs ?? options.patienceMs ?? 60_000;
    let failures = 0;
    let failingSince = 0;
    for (;;) {
      await clear(route, call.signal);
      if (deadToken !== undefined) throw deadToken;
      let error: ThreadmuxError;
      try {
        const answer = await send(method, path, call);
        limits.learned(route, answer.headers, Date.now());
        const verdict = judge(what, answer);
        if (verdict.kind === 'done') return verdict.value;
        if (verdict.kind === 'limited') {
          limits.blocked(route, verdict.scope, verdict.waitMs, Date.now());
          log.info('rate limited', { what, scope: verdict.scope, ms: Math.ceil(verdict.waitMs) });
          continue;
        }
        error = verdict.error;
        if (error.code === 'discord_unauthorized' && !route.urgent) deadToken = error;
        if (verdict.kind === 'refused') throw error;
      } catch (cause) {
        if (closing.signal.aborted || call.signal?.aborted)
          throw unreachable(`${what}: stopped`, cause);
        if (isThreadmuxError(cause)) throw cause;
        error = unreachable(`${what}: ${reason(cause)}`, cause);
        if (!isRepeatable(method, path, call.body) && mayHaveArrived(cause)) throw error;
      }
      failures++;
      failingSince ||= Date.now();
      if (Date.now() - failingSince >= patienceMs) throw error;
      log.info('trying again', { what, failures, because: error.message });
      await pause(backoffMs(failures, Math.random()), call.signal);
    }
  }

  /** Waits until the limits let this request go, and counts it. */
  async function clear(route: Route, signal: AbortSignal | undefined): Promise<void> {
    for (;;) {
      const waitMs = limits.waitMs(route, Date.now());
      if (waitMs <= 0) break;
      await pause(waitMs, signal);
    }
    limits.sent(route, Date.now());
  }

  /** Plain listeners: what AbortSignal.any leaves behind stays as long as the signals do. */
  function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const signals = signal === undefined ? [closing.signal] : [closing.signal, signal];
    return new Promise((resolve, reject) => {
      const done = () => {
        clearTimeout(timer);
        for (const one of signals) one.removeEventListener('abort', done);
        const stopped = signals.find(({ aborted }) => aborted);
        if (stopped === undefined) resolve();
        else reject(unreachable('waiting to send: stopped', stopped.reason));
      };
      const timer = setTimeout(done, ms);
      for (const one of signals) one.addEventListener('abort', done);
      if (signals.some(({ aborted }) => aborted)) done();
    });
  }

  return {
    socketPath: base.socketPath,
    call(method, path, call = {}) {
      const route = routeOf(method, path, call.body);
      const act = () => attempt(route, method, path, call);
      return route.urgent || method === 'GET' ? act() : inTurn(`${route.key}:${route.major}`, act);
    },
    async close() {
      closing.abort();
      await pool.destroy();
    },
  };
}

function payloadOf({ body, files = [] }: CallOptions): {
  readonly payload: string | Readable | null;
  readonly headers: Readonly<Record<string, string>>;
} {
  if (files.length > 0) {
    const { contentType, size, pieces } = multipartBody(body ?? {}, files);
    return {
      payload: Readable.from(pieces, { objectMode: false }),
      headers: { 'content-type': contentType, 'content-length': String(size) },
    };
  }
  return body === undefined
    ? { payload: null, headers: {} }
    : { payload: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** A connection that was never made cannot have delivered anything. */
function mayHaveArrived(cause: unknown): boolean {
  const code = (cause as { code?: string }).code;
  return !['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    code ?? '',
  );
}

function reason(cause: unknown): string {
  const { code, message } = cause as { code?: string; message?: string };
  return [message, code].filter(Boolean).join(' ') || String(cause);
}
