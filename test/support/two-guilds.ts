// One bot in two Discord servers: two workspaces with the same bot behind one address, with one gateway for both.

import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { makeSnowflakes } from '../../workspace/storage/message-log.ts';
import { loadIdentity } from '../../workspace/workspace-context.ts';
import { tempFolder } from './temp-home.ts';
import { startTestWorkspace, type TestWorkspace } from './workspace.ts';

interface TwoGuilds {
  readonly home: TestWorkspace;
  readonly work: TestWorkspace;
  /** The address of both. */
  readonly api: string;
  /** The gateway connections that were opened so far. */
  readonly connections: () => number;
  /** Every request, as "METHOD path". */
  readonly requests: readonly string[];
}

export async function startTwoGuilds(): Promise<TwoGuilds> {
  const home = await startTestWorkspace();
  const work = await startTestWorkspace({ dir: withSameBot(home) });
  const owners = new Map<string, TestWorkspace>();
  for (const one of [home, work]) for (const id of [one.guildId, one.channelId]) owners.set(id, one);
  const requests: string[] = [];
  let connections = 0;

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').replace('/api/v10', '');
    requests.push(`${request.method} ${path}`);
    if (path === '/gateway/bot') {
      const { body } = await home.bot('GET', path);
      return answer(response, 200, JSON.stringify({ ...body, url: `ws://${request.headers.host}` }));
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = parts.length > 0 ? Buffer.concat(parts) : undefined;
    const owner = path.split('/').flatMap((part) => owners.get(part) ?? [])[0];
    for (const one of owner === undefined ? [home, work] : [owner]) {
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
      const said = await fetch(`${one.api}${path}`, {
        method: request.method ?? 'GET',
        headers: headers as Record<string, string>,
        ...(body === undefined ? {} : { body }),
      });
      if (said.status === 404 && one === home && owner === undefined) continue; // it belongs to the other one
      return answer(response, said.status, await said.text());
    }
  }

  const server = createServer((request, response) => {
    // A request that is still open when the test ends.
    pass(request, response).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (client) => {
    connections++;
    joinGateways(client, [home, work], owners);
  });
  const api = await listening(server);
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close();
  });
  return { home, work, api, requests, connections: () => connections };
}

/** The folder of a workspace with another guild and channel. */
function withSameBot(other: TestWorkspace): string {
  const dir = tempFolder();
  const next = makeSnowflakes();
  const identity = { ...loadIdentity(other.dir), guildId: next(), channelId: next(), roleId: next() };
  writeFileSync(join(dir, 'identity.json'), JSON.stringify(identity), { mode: 0o600 });
  return dir;
}

interface Frame {
  readonly op: number;
  readonly t?: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: frames of any kind pass through
  readonly d: any;
}

/** The client sees one gateway: one READY, then the events of both with one row of numbers. It cannot be resumed. */
function joinGateways(client: WebSocket, guilds: readonly TestWorkspace[], owners: Map<string, TestWorkspace>): void {
  let seq = 0;
  const send = (frame: object) => client.readyState === WebSocket.OPEN && client.send(JSON.stringify(frame));
  const inside = guilds.map((guild) => {
    const socket = new WebSocket(
      `${guild.api.replace('http', 'ws').replace('/api/v10', '/gateway')}?v=10&encoding=json`,
    );
    socket.on('error', () => client.terminate());
    socket.on('close', () => client.terminate());
    socket.on('message', (data) => {
      const { op, t, d } = JSON.parse(String(data)) as Frame;
      const isFirst = guild === guilds[0];
      if (op !== 0) return void (isFirst && send({ op, t: null, s: null, d }));
      if (t === 'READY' && !isFirst) return;
      for (const id of t === 'INTERACTION_CREATE' ? [d.id, d.token] : t === 'THREAD_CREATE' ? [d.id] : [])
        owners.set(id, guild);
      send({ op, t, s: ++seq, d });
    });
    return socket;
  });
  client.on('close', () => inside.forEach((socket) => void socket.terminate()));
  client.on('message', (data) => {
    const { op } = JSON.parse(String(data)) as Frame;
    if (op === 6) return send({ op: 9, t: null, s: null, d: false });
    for (const socket of inside) {
      if (socket.readyState === WebSocket.OPEN) socket.send(String(data));
      else socket.once('open', () => socket.send(String(data)));
    }
  });
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', date: new Date().toUTCString() });
  response.end(status === 204 ? undefined : text);
}

async function listening(server: Server | NetServer): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v10`;
}
