// The one port: which part of the workspace answers a request or takes a socket, and what is turned away at once.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { ThreadmuxError } from '../core/errors.ts';
import { admit, type Door } from './access.ts';
import type { Gateway } from './gateway.ts';
import { API } from './http.ts';
import type { Identity } from './identity.ts';

interface Part {
  handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void>;
}

export interface Parts {
  readonly identity: Identity;
  readonly door: Door;
  readonly rest: Part;
  readonly pages: Part;
  readonly gateway: Gateway;
  log(line: string): void;
}

/** Longer than any client of ours pauses: a connection closed just as it is used again looks like a lost request. */
const KEEP_ALIVE_MS = 75_000;

/** Gives the port that was taken. */
export async function listenOn(server: Server, port: number, listen: string): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((listening, failed) => {
    server.once('error', failed).listen(port, listen, () => listening());
  }).catch((cause: unknown) => {
    throw new ThreadmuxError(
      'workspace_failed',
      `The workspace cannot listen on ${listen}:${port}.`,
      {
        cause,
        hint: 'Choose another port, or stop the program that uses this one.',
      },
    );
  });
  return (server.address() as AddressInfo).port;
}

/** The host to print: one that can be opened, also when we listen everywhere. */
export function urlHost(listen: string): string {
  if (listen === '0.0.0.0' || listen === '::') return '127.0.0.1';
  return listen.includes(':') ? `[${listen}]` : listen;
}

export function serve(server: Server, parts: Parts): void {
  server.on('request', (request, response) => {
    const url = urlOf(request);
    if (url === undefined) return void response.writeHead(400).end();
    const part = url.pathname.startsWith(`${API}/`) ? parts.rest : parts.pages;
    part.handle(request, response, url).catch((error: unknown) => {
      parts.log(`${request.method} ${url.pathname} failed: ${String(error)}`);
      response.destroy();
    });
  });
  server.on('upgrade', (request, socket, head) => upgrade(parts, request, socket, head));
}

/** What was asked for; undefined if it is no address at all. */
function urlOf(request: IncomingMessage): URL | undefined {
  const path = request.url ?? '/';
  const text = `http://workspace${path}`;
  return path.startsWith('/') && URL.canParse(text) ? new URL(text) : undefined;
}

function upgrade(parts: Parts, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on('error', () => socket.destroy());
  const url = urlOf(request);
  // Judged like an unsafe request: a browser sends its cookie along with a socket that any page opens.
  const access = admit(parts.identity, parts.door, request.headers, 'POST');
  if (access.kind === 'refused') return turnAway(socket, '403 Forbidden');
  if (url === undefined || !/^\/(?:gateway\/?)?$/.test(url.pathname))
    return turnAway(socket, '404 Not Found');
  const query = url.searchParams;
  if ((query.get('encoding') ?? 'json') !== 'json' || query.has('compress'))
    return turnAway(socket, '400 Bad Request');
  const actor = access.kind === 'actor' ? access.actor : 'bot';
  parts.gateway.accept(request, socket, head, actor, query.get('v'));
}

function turnAway(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
