// The gateway's sockets and frames. client-sessions.ts checks the frames and keeps the sessions.

import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { sameSecret } from '../access/admit.ts';
import type { Inspection } from '../rest-server.ts';
import type { Actor } from '../wire/guild.ts';
import { INTENT_BITS, type Viewer } from '../workspace-context.ts';
import {
  type ClientSession,
  type ClientSessions,
  type Gatekeeper,
  judgeIdentify,
  readPayload,
  readResume,
  sendToSession,
  tokenIn,
} from './client-sessions.ts';

interface GatewayServerOptions {
  readonly gate: Gatekeeper;
  readonly sessions: ClientSessions;
  readonly inspection: Inspection;
  readonly heartbeatMs: number;
  /** Whether a token belongs to a session of the page. */
  isPerson(token: string): boolean;
  /** Sends READY and the events after it, for the host name that the client used. */
  greet(session: ClientSession, host: string): void;
}

/** What is known of a socket before it sends anything. */
interface Caller {
  readonly actor: Actor;
  readonly host: string;
  /** Called when it has authenticated. */
  admitted(): void;
}

export interface GatewayServer {
  accept(from: IncomingMessage, socket: Duplex, head: Buffer, by: Caller, v: string | null): void;
  close(): Promise<void>;
}

const MAX_SENDS = 120;
const SEND_WINDOW_MS = 60_000;
const EVERY_INTENT = -1;
/** A socket on the port that does not authenticate uses a place that others need. */
const IDENTIFY_WITHIN_MS = 10_000;

/** The texts that Discord sends with a close code, for logs. */
const CLOSE_REASONS: Readonly<Record<number, string>> = {
  4001: 'Unknown opcode.',
  4002: 'Error while decoding payload.',
  4003: 'Not authenticated.',
  4004: 'Authentication failed.',
  4005: 'Already authenticated.',
  4007: 'Invalid seq.',
  4008: 'You are being rate limited.',
  4009: 'Session timed out.',
  4010: 'Invalid shard.',
  4012: 'Invalid API version.',
  4013: 'Invalid intents.',
  4014: 'Disallowed intent(s).',
};

export interface Connection {
  readonly socket: WebSocket;
  readonly caller: Caller;
  session: ClientSession | undefined;
  readonly sendTimes: number[];
  lastBeat: number;
  token: string; // the user's
}

export function makeGatewayServer(options: GatewayServerOptions): GatewayServer {
  // One frame of a socket at a time: a flood of small ones would hold up everything else in this process.
  const pace = { allowSynchronousEvents: false };
  const server = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024, perMessageDeflate: false, ...pace });
  const connections = new Set<Connection>();
  const { sessions, heartbeatMs } = options;

  const begin = (socket: WebSocket, caller: Caller, version: string | null) => {
    const start = { session: undefined, token: '', sendTimes: [], lastBeat: Date.now() };
    const connection: Connection = { socket, caller, ...start };
    connections.add(connection);
    const watch = setInterval(() => {
      if (Date.now() - connection.lastBeat > heartbeatMs * 2 + 1000) hangUp(connection, 4009);
      else if (connection.token !== '' && !options.isPerson(connection.token)) hangUp(connection, 4004);
    }, heartbeatMs);
    const late = setTimeout(() => {
      if (caller.actor === 'person' && !connection.session) hangUp(connection, 4003);
    }, IDENTIFY_WITHIN_MS);
    socket.on('error', () => socket.terminate());
    socket.on('close', (code) => {
      clearInterval(watch);
      clearTimeout(late);
      connections.delete(connection);
      depart(connection, code);
    });
    socket.on('message', (data, isBinary) => {
      receive(connection, Buffer.concat([data].flat() as Buffer[]), isBinary);
    });
    // Pings are answered, and the answers to a client that does not read stay in our memory.
    for (const frame of ['ping', 'pong'] as const) socket.on(frame, () => void isWithinLimit(connection));
    if (version !== '10') return hangUp(connection, 4012);
    options.inspection.connection?.(connection, sessions);
    say(connection, { op: 10, d: { heartbeat_interval: heartbeatMs, _trace: ['workspace'] } });
  };

  /** A client that goes on sending after we have hung up is cut off: half a minute of its frames would still be read. */
  const isWithinLimit = (connection: Connection): boolean => {
    if (!sendsTooMuch(connection)) return true;
    if (connection.socket.readyState === connection.socket.OPEN) hangUp(connection, 4008);
    else connection.socket.terminate();
    return false;
  };

  const receive = (connection: Connection, raw: Buffer, isBinary: boolean) => {
    if (!isWithinLimit(connection) || connection.socket.readyState !== connection.socket.OPEN) return;
    const payload = readPayload(raw, isBinary);
    if (payload === undefined) return hangUp(connection, 4002);
    switch (payload.op) {
      case 1:
        connection.lastBeat = Date.now();
        return say(connection, { op: 11 });
      case 2:
        return connection.session ? hangUp(connection, 4005) : identify(connection, payload.d);
      case 6:
        return connection.session ? hangUp(connection, 4005) : resume(connection, payload.d);
      case 3:
      case 4:
      case 8:
        return connection.session ? undefined : hangUp(connection, 4003);
      default:
        return hangUp(connection, 4001);
    }
  };

  const identify = (connection: Connection, data: unknown) => {
    if (connection.caller.actor === 'person') {
      connection.token = tokenIn(data);
      if (!options.isPerson(connection.token)) return hangUp(connection, 4004);
      return enter(connection, { actor: 'person', seesContent: true }, EVERY_INTENT);
    }
    const judged = judgeIdentify(data, options.gate);
    if (judged.kind === 'close') return hangUp(connection, judged.code);
    const seesContent = (judged.intents & INTENT_BITS.content) !== 0;
    enter(connection, { actor: 'bot', seesContent }, judged.intents);
  };

  const enter = (connection: Connection, viewer: Viewer, intents: number) => {
    const session = sessions.open(viewer, intents);
    attach(connection, session);
    options.greet(session, connection.caller.host);
  };

  const attach = (connection: Connection, session: ClientSession) => {
    connection.session = session;
    connection.caller.admitted();
    session.deliver = (frame) => say(connection, frame);
  };

  const resume = (connection: Connection, data: unknown) => {
    const asked = readResume(data);
    if (asked === undefined) return hangUp(connection, 4002);
    const { actor } = connection.caller;
    const isPerson = actor === 'person' && options.isPerson(asked.token);
    const isBot = actor === 'bot' && sameSecret(asked.token, options.gate.token);
    if (!isPerson && !isBot) return hangUp(connection, 4004);
    connection.token = isPerson ? asked.token : '';
    const outcome = sessions.resume(actor, asked.session_id, asked.seq);
    if (outcome.kind === 'gone') return say(connection, { op: 9, d: false });
    if (outcome.kind === 'bad-sequence') {
      sessions.end(asked.session_id);
      return hangUp(connection, 4007);
    }
    for (const other of connections) {
      if (other.session === outcome.session) {
        other.session = undefined; // the old socket may no longer end or leave this session
        other.socket.terminate();
      }
    }
    attach(connection, outcome.session);
    for (const frame of outcome.missed) say(connection, frame);
    sendToSession(outcome.session, 'RESUMED', { _trace: ['workspace'] });
  };

  const say = ({ socket }: Connection, payload: { op: number; d?: unknown; s?: number; t?: string }) => {
    if (socket.readyState !== socket.OPEN) return;
    const { op, d = null, s = null, t = null } = payload;
    socket.send(JSON.stringify({ t, s, op, d }));
  };

  /** 4007 and 4009 end the session; after other codes that allow it, the client may resume. */
  const hangUp = (connection: Connection, code: number) => {
    if (code === 4009 && connection.session) sessions.end(connection.session.id);
    connection.socket.close(code, CLOSE_REASONS[code] ?? '');
  };

  const depart = ({ session }: Connection, code: number) => {
    if (session) sessions.leave(session, code === 1000 || code === 1001);
  };

  return {
    accept(request, socket, head, caller, version) {
      server.handleUpgrade(request, socket, head, (accepted) => begin(accepted, caller, version));
    },
    async close() {
      for (const socket of server.clients) socket.terminate();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

function sendsTooMuch({ sendTimes }: Connection): boolean {
  const now = Date.now();
  sendTimes.push(now);
  while ((sendTimes[0] ?? now) <= now - SEND_WINDOW_MS) sendTimes.shift();
  return sendTimes.length > MAX_SENDS;
}
