// The port and the socket: which part of the workspace handles a request or a WebSocket, and what is refused immediately.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { ThreadmuxError } from '../core/errors.ts';
import type { AdmittedCaller, WorkspaceEntrance } from './access/admit.ts';
import { othersKeepConnections } from './access/kept-connections.ts';
import { SIGN_IN } from './access/sign-in.ts';
import type { PageHandler } from './assets.ts';
import type { GatewayServer } from './gateway/gateway-server.ts';
import { API, type RestHandler } from './rest-server.ts';

interface Parts {
  readonly entrance: WorkspaceEntrance;
  readonly rest: RestHandler;
  readonly pages: PageHandler;
  /** Not on the socket: the bot has its token. */
  readonly signIn?: PageHandler;
  readonly gateway: GatewayServer;
  log(line: string): void;
}

/** Longer than our clients are ever idle: a connection that we close while a client reuses it looks like a lost request. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 120_000;
const CHECK_EVERY_MS = 2_000;
/** A browser sends us the cookies of every program at this address, whatever its port: up to 180 of 4 KiB. We use none. */
const MAX_HEADER_BYTES = 1024 * 1024;
const MAX_CONNECTIONS = 512;
const MAX_STRANGERS = 64;
/** The longest path of a Unix socket on all systems: 104 bytes on macOS, 108 on Linux, with a zero at the end. */
const MAX_SOCKET_PATH = 103;

export function makeServer(log: (line: string) => void): Server {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_WITHIN_MS,
    requestTimeout: REQUEST_WITHIN_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Failing to accept a connection (no file descriptor left) is an error event of the server; it must not end the process.
  return server.on('error', (error) => log(`the server: ${error.message}`));
}

/**
 * Resolves with the port. A browser looks for "localhost" at ::1 and at 127.0.0.1. Where we do not listen, another user could answer
 * for us, so we take both; a port of which somebody has one is in use.
 */
export async function listenOn(server: Server, port: number, listen: string): Promise<number> {
  for (let tries = 1; ; tries++) {
    try {
      await listening(server, { port, host: listen });
      const at = server.address() as AddressInfo;
      const others: TcpServer[] = [];
      server.once('close', () => {
        for (const one of others) one.close();
      });
      for (const host of LOOPBACKS.filter((one) => !isCovered(one, at.address)))
        others.push(...(await listenAlso(server, at.port, host)));
      if (othersKeepConnections(at.port)) throw stillInUse();
      return at.port;
    } catch (cause) {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      // We chose this port ourselves: take another one.
      if (port === 0 && isInUse(cause) && tries < MOST_TRIES) continue;
      throw new ThreadmuxError('workspace_failed', `The workspace cannot listen on ${listen}:${port}.`, {
        cause,
        hint: 'Choose another port, or stop the program that uses this one.',
      });
    }
  }
}

const LOOPBACKS = ['127.0.0.1', '::1'];
const MOST_TRIES = 20;

function isCovered(loopback: string, address: string): boolean {
  return address === loopback || address === '::' || (address === '0.0.0.0' && loopback === '127.0.0.1');
}

/** The same server at another address. None if this machine has no such address: then nobody can take it. */
async function listenAlso(server: Server, port: number, host: string): Promise<readonly TcpServer[]> {
  const other = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket));
  other.maxConnections = MAX_CONNECTIONS;
  try {
    await listening(other, { port, host });
  } catch (error) {
    if (isInUse(error)) throw error;
    return [];
  }
  return [other.on('error', (error) => server.emit('error', error))];
}

function stillInUse(): Error {
  const message = 'A program of another user had this port, and still has connections there.';
  return Object.assign(new Error(message), { code: 'EADDRINUSE' });
}

function isInUse(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
}

/** The caller must hold the workspace's lock: an existing socket file is then left over from a killed process. */
export async function listenAt(server: Server, path: string): Promise<void> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH)
    throw new ThreadmuxError(
      'workspace_failed',
      `The path ${path} is too long for a socket (${Buffer.byteLength(path)} bytes, at most ${MAX_SOCKET_PATH}).`,
      { hint: 'Set THREADMUX_HOME to a folder with a shorter path.' },
    );
  rmSync(path, { force: true });
  await listening(server, { path }).catch((cause: unknown) => {
    throw new ThreadmuxError('workspace_failed', `The workspace cannot listen at ${path}.`, {
      cause,
      hint: 'Set THREADMUX_HOME to a folder on a local disk.',
    });
  });
  chmodSync(path, 0o600);
}

function listening(server: TcpServer, where: object): Promise<void> {
  return new Promise((done, failed) => {
    server.once('error', failed).listen(where, () => {
      server.off('error', failed);
      done();
    });
  });
}

/**
 * The host to print: one at which a browser can sign in, which is this machine's own address; it is always served, too. But a port that
 * the system has chosen counts only at the address for which it was chosen.
 */
export function pageHost({ listen, isChosen }: Pick<AdmittedCaller, 'listen' | 'isChosen'>): string {
  const isOwn = /^(?:127\.|::1$|localhost$)/i.test(listen);
  if (listen === '0.0.0.0' || listen === '::' || !(isOwn || isChosen)) return '127.0.0.1';
  return listen.includes(':') ? `[${listen}]` : listen;
}

export function serve(server: Server, parts: Parts): void {
  const isPort = parts.entrance.actor === 'person';
  const strangers = limitStrangers(server, isPort ? MAX_STRANGERS : MAX_CONNECTIONS);
  server.on('request', (request, response) => {
    if (parts.entrance.admit(request.headers).kind === 'actor') strangers.admit(request.socket);
    if (!strangers.mayAsk(request, response)) return;
    const url = urlOf(request);
    if (url === undefined) return void response.writeHead(400, { Connection: 'close' }).end();
    answer(parts, request, response, url).catch((error: unknown) => {
      parts.log(`${request.method} ${url.pathname} failed: ${String(error)}`);
      response.destroy();
    });
  });
  server.on('upgrade', (request, socket, head) => {
    upgrade(parts, request, socket, head, () => strangers.admit(request.socket));
  });
}

function answer(parts: Parts, request: IncomingMessage, response: ServerResponse, url: URL) {
  if (url.pathname.startsWith(`${API}/`)) return parts.rest(request, response, url, parts.entrance);
  const isSignIn = url.pathname.startsWith(SIGN_IN);
  const handle = (isSignIn ? parts.signIn : undefined) ?? parts.pages;
  return handle(request, response, url);
}

/** The requested address; undefined if it is invalid. */
function urlOf(request: IncomingMessage): URL | undefined {
  const path = request.url ?? '/';
  const text = `http://workspace${path}`;
  return path.startsWith('/') && URL.canParse(text) ? new URL(text) : undefined;
}

function upgrade(
  { entrance, gateway }: Parts,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  admitted: () => void,
): void {
  socket.on('error', () => socket.destroy());
  const { headers } = request;
  const url = urlOf(request);
  const isPage = entrance.actor === 'person';
  // A browser cannot send a token with a WebSocket, but always sends Origin; the token comes with the identify.
  if (entrance.admit(headers).kind === 'refused' || (isPage && headers.origin === undefined))
    return turnAway(socket, '403 Forbidden');
  if (url === undefined || !/^\/(?:gateway\/?)?$/.test(url.pathname)) return turnAway(socket, '404 Not Found');
  const query = url.searchParams;
  if ((query.get('encoding') ?? 'json') !== 'json' || query.has('compress')) return turnAway(socket, '400 Bad Request');
  const caller = { actor: entrance.actor, host: headers.host ?? 'localhost', admitted };
  gateway.accept(request, socket, head, caller, query.get('v'));
}

/** Node.js drops its record of a connection that asks for an upgrade: left open, it would keep the server from closing. */
function turnAway(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

// Limits connections that have not authenticated. There are only a few at a time, and the newest replaces the oldest, so a
// client that opens many can use up neither our file descriptors nor the places of others. Each gets one answer at a time:
// unread answers would fill our memory.
interface Strangers {
  /** The connection has authenticated and no longer counts. */
  admit(socket: Socket): void;
  /** False, and the connection is closed, for a request that did not wait for the answer to the previous one. */
  mayAsk(request: IncomingMessage, response: ServerResponse): boolean;
}

export function limitStrangers(server: Server, most: number): Strangers {
  const strangers = new Set<Socket>();
  const answering = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    const [oldest] = strangers;
    if (oldest === undefined || strangers.size <= most) return;
    strangers.delete(oldest); // now: "close" comes later, and until then the same connection would be chosen again
    oldest.destroy();
  });
  return {
    admit: (socket) => void strangers.delete(socket),
    mayAsk({ socket }, response) {
      if (socket.destroyed) return false; // the rest of the data that came with the request that was too many
      if (!strangers.has(socket)) return true;
      if (answering.has(socket)) {
        socket.destroy();
        return false;
      }
      answering.add(socket);
      response.once('close', () => answering.delete(socket));
      return true;
    },
  };
}
