// A client for Discord's REST API. It obeys rate limits, retries what may be repeated, keeps the order of requests per
// route, and never sends a refused token again.

import { setMaxListeners } from 'node:events';
import { type Dispatcher, FormData } from 'undici';
import { clockDifference } from '../core/duration.ts';
import { isThreadmuxError, type ThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { type Log, silentLog } from '../core/log.ts';
import { pauseMs } from '../core/retry-with-pauses.ts';
import { addressOf, openPool, USER_AGENT } from './http-pool.ts';
import { PRIVATE_FLAG } from './payloads.ts';
import { type Endpoint, endpointOf, type Method } from './rate-limits.ts';
import { judgeResponse, PAUSES, type RestResponse, unreachable } from './response.ts';
import { createSendQueue, onAbort } from './send-queue.ts';

export interface FileUpload {
  readonly name: string;
  readonly data: Uint8Array;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly files?: readonly FileUpload[];
  /** How long to go on after the first failure that is not a rate limit. */
  readonly patienceMs?: number;
  readonly signal?: AbortSignal;
}

export interface Rest {
  /** Resolves with the parsed answer (undefined for an empty one); rejects with a ThreadmuxError. */
  call(method: Method, path: string, options?: CallOptions): Promise<unknown>;
  /** The time by the server's clock, as its last answer showed it: ids of messages contain this time. */
  serverTime(): number;
  /** The Unix socket for REST and the gateway; undefined for a server on the network. */
  readonly socketPath?: string | undefined;
  /** Stops waiting requests and closes the connections. */
  close(): Promise<void>;
}

export interface RestOptions {
  readonly token: string;
  readonly api: string;
  readonly log?: Log;
  readonly timeoutMs?: number;
  readonly patienceMs?: number;
  /** All requests per second. Tests allow more than Discord. */
  readonly perSecond?: number;
}

const QUICK_MS = 2_000;

export function connectRest(options: RestOptions): Rest {
  const base = addressOf(options.api);
  const log = options.log ?? silentLog;
  const timeoutMs = options.timeoutMs ?? 15_000;
  const pool = openPool(base, timeoutMs);
  const queue = createSendQueue((isSlowed) => {
    if (!isSlowed) log.info('Discord refuses fewer requests; back to full speed');
    else log.warn('Discord refused over 5,000 requests in ten minutes; slowing down to one a second');
  }, options.perSecond);
  /** The order of the calls is the order of the messages. */
  const inTurn = createKeyedQueue();
  let clockAheadMs = 0;
  let deadToken: ThreadmuxError | undefined;

  async function send(method: Method, path: string, payload: Payload, call: CallOptions): Promise<RestResponse> {
    const request: Dispatcher.RequestOptions = {
      method,
      path: base.path.replace(/\/$/, '') + path,
      headers: {
        'user-agent': USER_AGENT,
        ...(path.startsWith('/interactions/') || path.startsWith('/webhooks/')
          ? {}
          : { authorization: `Bot ${options.token}` }),
        ...payload.headers,
      },
      body: payload.body,
      headersTimeout: call.files?.length ? timeoutMs * 8 : timeoutMs,
      bodyTimeout: timeoutMs,
      signal: call.signal,
    };
    const askedMs = Date.now();
    const { statusCode, headers, body } = await pool.request(request);
    const shownMs = Date.parse(String(headers.date));
    // A slow answer says little about the clock.
    if (Date.now() - askedMs < QUICK_MS && !Number.isNaN(shownMs))
      clockAheadMs = clockDifference(shownMs, askedMs, Date.now());
    return { status: statusCode, headers, body: await body.text() };
  }

  async function attempt(
    route: Endpoint,
    method: Method,
    path: string,
    call: CallOptions & { readonly patienceMs: number },
  ) {
    const what = `${method} ${path.replace(/^\/(webhooks|interactions)\/(\d+)\/[^/]+/, '/$1/$2/…')}`;
    const signals = call.signal === undefined ? [closing.signal] : [closing.signal, call.signal];
    const payload = payloadOf(call);
    let failures = 0;
    let failingSince = 0;
    for (;;) {
      if (deadToken !== undefined) throw deadToken;
      const ticket = await queue.turn(route, signals);
      let answer: RestResponse | undefined;
      let error: ThreadmuxError;
      try {
        if (deadToken !== undefined) throw deadToken;
        answer = await send(method, path, payload, call);
        const verdict = judgeResponse(what, answer);
        if (verdict.kind === 'done') return verdict.value;
        if (verdict.kind === 'limited') {
          queue.blocked(route, verdict.scope, verdict.waitMs);
          log.info('rate limited', { what, scope: verdict.scope, ms: Math.ceil(verdict.waitMs) });
          continue;
        }
        error = verdict.error;
        if (error.code === 'discord_unauthorized' && !route.urgent) deadToken = error;
        if (verdict.kind === 'refused') throw error;
      } catch (cause) {
        if (signals.some(({ aborted }) => aborted)) throw unreachable(`${what}: stopped`, cause);
        if (isThreadmuxError(cause)) throw cause;
        error = unreachable(`${what}: ${reason(cause)}`, cause);
        if (!isRepeatable(method, path, call.body) && mayHaveArrived(cause)) throw error;
      } finally {
        queue.ended(ticket, answer);
      }
      failures++;
      failingSince ||= Date.now();
      if (Date.now() - failingSince >= call.patienceMs) throw error;
      log.info('trying again', { what, failures, because: error.message });
      await pause(pauseMs(failures, PAUSES), signals);
    }
  }

  const patienceMs = options.patienceMs ?? 60_000;
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // as many as there are requests waiting
  return {
    socketPath: base.socketPath,
    serverTime: () => Date.now() + clockAheadMs,
    call(method, path, call = {}) {
      const route = endpointOf(method, path, call.body);
      const act = () => attempt(route, method, path, { patienceMs, ...call });
      return route.urgent || method === 'GET' ? act() : inTurn(`${route.key}:${route.major}`, act);
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort();
      await pool.destroy();
    },
  };
}

function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      stop();
      resolve();
    }, ms);
    const stop = onAbort(signals, (cause) => {
      clearTimeout(timer);
      reject(unreachable('waiting to try again: stopped', cause));
    });
  });
}

interface Payload {
  readonly body: string | FormData | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Unlike a stream, a form can be sent again. It must be undici's own class: that of Node.js may have another version. */
function payloadOf({ body, files = [] }: CallOptions): Payload {
  if (files.length > 0) {
    const form = new FormData();
    form.append('payload_json', JSON.stringify(body ?? {}));
    for (const [at, { name, data }] of files.entries())
      form.append(`files[${at}]`, new Blob([data as Uint8Array<ArrayBuffer>]), name);
    return { body: form, headers: {} };
  }
  return body === undefined
    ? { body: null, headers: {} }
    : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** A connection that was never opened cannot have delivered anything. */
function mayHaveArrived(cause: unknown): boolean {
  const code = (cause as { code?: string }).code;
  return !['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'].includes(code ?? '');
}

function reason(cause: unknown): string {
  const { code, message } = cause as { code?: string; message?: string };
  return [message, code].filter(Boolean).join(' ') || String(cause);
}

/** Whether a request can be repeated safely after a lost answer. */
export function isRepeatable(method: Method, path: string, body: unknown): boolean {
  if (method !== 'POST') return true;
  if (typeof body === 'object' && body !== null && 'enforce_nonce' in body) return true;
  // Only the user who tapped sees it: twice is better than never.
  if (path.startsWith('/webhooks/')) return isPrivate(body);
  // The server refuses a repeat (THREAD_ALREADY_CREATED, ALREADY_ACKNOWLEDGED), and the callers handle that.
  return /\/(typing|threads|callback)$/.test(path.split('?')[0] ?? path);
}

function isPrivate(body: unknown): boolean {
  const flags = typeof body === 'object' && body !== null && 'flags' in body ? Number(body.flags) : 0;
  return (flags & PRIVATE_FLAG) !== 0;
}
