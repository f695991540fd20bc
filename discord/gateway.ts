// Runs the gateway state machine: the socket, the timers and the queue of events. The position is stored after an event
// was handled: a crash can repeat events, but never skip one.

import { createRequire } from 'node:module';
import { connect as connectTo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as ws from 'ws';
import { ThreadmuxError } from '../core/errors.ts';
import { type Log, silentLog } from '../core/log.ts';
import { pauseMs } from '../core/retry-with-pauses.ts';
import {
  createHandledEvents,
  firstGatewayState,
  type GatewayEffect,
  type GatewayEvent,
  type GatewaySession,
  type GatewayState,
  nextGatewayStep,
} from './gateway-state.ts';
import { USER_AGENT } from './http-pool.ts';
import { gatewayBotSchema, helloSchema, parsePayload, readyEventSchema } from './payloads.ts';
import type { Rest } from './rest.ts';

/** `live` is false for an event that a resume replays: it may be minutes old. */
type EventHandler = (name: string, data: unknown, live: boolean) => Promise<void> | void;

interface GatewayOptions {
  readonly rest: Rest;
  readonly token: string;
  readonly intents: number;
  /** Called in order; an event counts as read when the promise resolves. */
  readonly handle: EventHandler;
  readonly load: () => GatewaySession | undefined;
  readonly save: (session: GatewaySession) => void;
  /** A retry cannot help: the token or an intent was refused. */
  readonly onFatal: (error: ThreadmuxError) => void;
  readonly log?: Log;
  /** Divides all waiting times, for tests. */
  readonly hurry?: number;
}

export interface Gateway {
  readonly state: () => GatewayState;
  /** Keeps the session, so that the next start resumes it. */
  close(): void;
}

/** Loaded with require: with import, Node.js parses this CommonJS module twice and keeps 4 MB. */
const { WebSocket } = createRequire(import.meta.url)('ws') as typeof ws;

/** Any code but 1000 and 1001 keeps the session for a few minutes. */
const KEEP_SESSION = 4900;

export function openGateway(options: GatewayOptions): Gateway {
  const log = options.log ?? silentLog;
  const hurry = options.hurry ?? 1;
  const ledger = createHandledEvents(options.save);
  let state = firstGatewayState(options.load());
  let socket: ws.WebSocket | undefined;
  let beating: NodeJS.Timeout | undefined;
  let watchdog: NodeJS.Timeout | undefined;
  let identifiedAt = Number.NEGATIVE_INFINITY;
  const closing = new AbortController();

  function on(event: GatewayEvent): void {
    if (closing.signal.aborted) return;
    const was = state.at;
    const [next, ...effects] = nextGatewayStep(state, event);
    state = next;
    if (was !== next.at)
      log.info('gateway', { now: next.at, was, because: event.on, ...('code' in event ? { code: event.code } : {}) });
    if (next.at === 'live') clearTimeout(watchdog);
    for (const effect of effects) act(effect);
  }

  function act(effect: GatewayEffect): void {
    switch (effect.do) {
      case 'connect':
        void connect(effect);
        return;
      case 'startBeating':
        clearTimeout(beating);
        beating = setTimeout(() => {
          on({ on: 'beat' });
          beating = setInterval(() => on({ on: 'beat' }), effect.everyMs);
        }, effect.everyMs * Math.random());
        return;
      case 'beat':
        return send(1, effect.seq);
      case 'identify':
        identifiedAt = Date.now();
        return send(2, {
          token: options.token,
          intents: options.intents,
          properties: { os: process.platform, browser: 'threadmux', device: 'threadmux' },
        });
      case 'resume':
        return send(6, { token: options.token, session_id: effect.session.id, seq: effect.session.seq });
      case 'hangUp':
        return hangUp();
      case 'stop':
        hangUp();
        options.onFatal(new ThreadmuxError('discord_fatal', 'the gateway closed for good', { hint: effect.why }));
    }
  }

  async function connect(effect: GatewayEffect & { do: 'connect' }): Promise<void> {
    stopTimers();
    try {
      await sleep(delayMs(effect, Math.random()) / hurry, undefined, { signal: closing.signal });
      const url = effect.url ?? (await askForUrl());
      dial(`${url.replace(/\/$/, '')}/?v=10&encoding=json`);
    } catch (error) {
      if (closing.signal.aborted) return;
      if (error instanceof ThreadmuxError && error.code === 'discord_unauthorized') return options.onFatal(error);
      log.warn('gateway unreachable', { because: (error as Error).message });
      on({ on: 'closed', code: 1006 });
    }
  }

  /** Discord resets the token after a thousand identifies per day. */
  async function askForUrl(): Promise<string> {
    const bot = gatewayBotSchema.parse(await options.rest.call('GET', '/gateway/bot'));
    const { remaining, reset_after } = bot.session_start_limit;
    if (remaining <= 0) {
      log.warn('no identify left for today', { waitMs: reset_after });
      await sleep(reset_after, undefined, { signal: closing.signal });
    }
    const sinceLast = Date.now() - identifiedAt;
    if (sinceLast < 5_500 / hurry) await sleep(5_500 / hurry - sinceLast, undefined, { signal: closing.signal });
    return bot.url;
  }

  function dial(url: string): void {
    const { socketPath } = options.rest;
    const mine = new WebSocket(url, {
      ...(socketPath !== undefined && { createConnection: () => connectTo(socketPath) }),
      handshakeTimeout: 30_000,
      perMessageDeflate: false,
      maxPayload: 64 * 1024 * 1024,
      headers: { 'user-agent': USER_AGENT },
    });
    socket = mine;
    watchdog = setTimeout(() => on({ on: 'stalled' }), 60_000 / hurry);
    mine.on('open', () => on({ on: 'opened' }));
    mine.on('message', (data) => receive(String(data)));
    mine.on('error', (error) => log.info('gateway socket', { because: error.message }));
    mine.on('close', (code) => {
      socket = undefined;
      stopTimers();
      on({ on: 'closed', code });
    });
  }

  function receive(text: string): void {
    const payload = parsePayload(text);
    if (payload === undefined) return log.warn('gateway sent what we cannot read', { bytes: text.length });
    switch (payload.op) {
      case 0:
        return dispatch(payload.t ?? '', payload.d, payload.s ?? 0);
      case 1:
        return on({ on: 'beatAsked' });
      case 7:
        return on({ on: 'reconnectAsked' });
      case 9:
        return on({ on: 'invalidated', resumable: payload.d === true });
      case 10:
        return on({ on: 'hello', intervalMs: helloSchema.parse(payload.d).heartbeat_interval });
      case 11:
        return on({ on: 'acked' });
    }
  }

  function dispatch(name: string, data: unknown, seq: number): void {
    if (name === 'READY') {
      const ready = readyEventSchema.parse(data);
      on({ on: 'ready', session: { id: ready.session_id, resumeUrl: ready.resume_gateway_url, seq } });
    } else if (isRepeated(state, seq)) return;
    else on({ on: 'dispatch', seq });
    if (name === 'RESUMED') on({ on: 'resumed' });
    const session = 'session' in state ? state.session : undefined;
    if (session === undefined) return;
    const done = ledger.open({ ...session, seq });
    const live = state.at === 'live';
    Promise.resolve()
      .then(() => options.handle(name, data, live))
      .catch((error: Error) => log.error('event failed', { name, because: error.stack ?? error.message }))
      .finally(done);
  }

  function send(op: number, d: unknown): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ op, d }));
  }

  /** Its close event would count as a second lost connection. */
  function hangUp(): void {
    const mine = socket;
    socket = undefined;
    stopTimers();
    mine?.removeAllListeners();
    mine?.on('error', () => {});
    mine?.close(KEEP_SESSION);
    setTimeout(() => mine?.terminate(), 1_000).unref();
  }

  function stopTimers(): void {
    clearTimeout(beating);
    clearTimeout(watchdog);
  }

  on({ on: 'start' });
  return {
    state: () => state,
    close() {
      closing.abort();
      hangUp();
    },
  };
}

/** After a resume, an event may come twice. */
function isRepeated(state: GatewayState, seq: number): boolean {
  return 'session' in state && state.session !== undefined && seq <= state.session.seq;
}

function delayMs(effect: GatewayEffect & { do: 'connect' }, random: number): number {
  if (effect.pace === 'soon') return effect.attempt === 0 ? 0 : 1_000 + random * 4_000;
  return pauseMs(effect.attempt + 1, { firstMs: 500, longestMs: 60_000 }, random);
}
