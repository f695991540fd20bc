// The embedded workspace: a small Discord for one person on one machine. This file only puts the parts together.

import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { ThreadmuxError } from '../core/errors.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import { admit, type Door } from './access.ts';
import { openAttachments } from './attachments.ts';
import type { Faults, GatewayControls } from './faults.ts';
import { type Gateway, makeGateway } from './gateway.ts';
import { API, makeRest } from './http.ts';
import { type IdentifyLimitOptions, makeIdentifyLimit } from './identify-limit.ts';
import { loadIdentity } from './identity.ts';
import { makeInteractions } from './interactions.ts';
import { openMemory } from './memory.ts';
import { makePages } from './pages.ts';
import { makeRateLimits, type RateLimitOptions } from './rate-limits.ts';
import { greet } from './ready.ts';
import { callbackRoutes, tellOutcome } from './routes-callbacks.ts';
import { commandRoutes } from './routes-commands.ts';
import { guildRoutes } from './routes-guild.ts';
import { messageRoutes } from './routes-messages.ts';
import { personRoutes } from './routes-person.ts';
import { reactionRoutes } from './routes-reactions.ts';
import { threadListRoutes } from './routes-thread-lists.ts';
import { threadRoutes } from './routes-threads.ts';
import { makeSessions } from './sessions.ts';
import type { World } from './world.ts';

export interface WorkspaceOptions {
  /** Where everything is kept. */
  readonly dir: string;
  /** 0, the default, takes any free one. */
  readonly port?: number;
  readonly listen?: string;
  readonly heartbeatMs?: number;
  readonly rateLimits?: RateLimitOptions;
  readonly nonceWindowMs?: number;
  /** Stands for the switch in Discord's developer portal. */
  readonly messageContentIntent?: boolean;
  readonly identifyLimit?: IdentifyLimitOptions;
  readonly faults?: Faults;
  readonly log?: (line: string) => void;
}

export interface Workspace {
  readonly url: string;
  readonly api: string;
  readonly token: string;
  /** Whoever opens it is the person from then on. */
  readonly link: string;
  readonly guildId: string;
  readonly channelId: string;
  readonly userId: string;
  readonly botId: string;
  readonly applicationId: string;
  readonly gateway: GatewayControls;
  close(): Promise<void>;
}

const ROUTES = [
  ...guildRoutes,
  ...messageRoutes,
  ...reactionRoutes,
  ...threadRoutes,
  ...threadListRoutes,
  ...commandRoutes,
  ...callbackRoutes,
  ...personRoutes,
];
const GENEROUS: RateLimitOptions = { perBucket: 100, windowMs: 1000, globalPerSecond: 500 };
const RESUMABLE_MS = 3 * 60_000;

export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { dir, listen = '127.0.0.1', log = () => {} } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700); // it may have been there before, with other rights
  const unlock = lock(dir);
  const identity = loadIdentity(dir);
  const memory = openMemory(join(dir, 'journal.jsonl'), log);
  const server = createServer();
  const port = await listenOn(server, options.port ?? 0, listen).catch((error: unknown) => {
    memory.close();
    unlock();
    throw error;
  });
  const door: Door = { listen, port };
  const url = `http://${urlHost(listen)}:${port}`;
  const gatewayUrl = `ws${url.slice(4)}/gateway`;

  const sessions = makeSessions(RESUMABLE_MS);
  const identifies = makeIdentifyLimit(options.identifyLimit ?? {});
  const interactions = makeInteractions((late) => tellOutcome(world, late, 'INTERACTION_FAILURE'));
  const attachments = openAttachments(join(dir, 'files'), identity.fileSecret);
  const messageContentIntent = options.messageContentIntent ?? true;
  const world: World = {
    identity,
    state: memory.state,
    url,
    messageContentIntent,
    nonceWindowMs: options.nonceWindowMs ?? 5 * 60_000,
    attachments,
    interactions,
    nextId: memory.nextId,
    commit: memory.commit,
    publish: sessions.publish,
    gatewayInfo: () => ({ url: gatewayUrl, shards: 1, session_start_limit: identifies.describe() }),
  };
  const gateway = makeGateway({
    gate: { token: identity.token, messageContentIntent },
    sessions,
    identifies,
    heartbeatMs: options.heartbeatMs ?? 41_250,
    greet: (session) => greet(world, session, gatewayUrl),
  });
  const limits = makeRateLimits(options.rateLimits ?? GENEROUS);
  const rest = makeRest({ world, door, routes: ROUTES, limits, faults: options.faults ?? {}, log });
  const pages = makePages(identity, attachments, door);

  server.on('request', (request, response) => {
    const asked = new URL(request.url ?? '/', 'http://workspace');
    const part = asked.pathname.startsWith(`${API}/`) ? rest : pages;
    part.handle(request, response, asked).catch((error: unknown) => {
      log(`${request.method} ${asked.pathname} failed: ${String(error)}`);
      response.destroy();
    });
  });
  server.on('upgrade', (request, socket, head) =>
    upgrade(world, door, gateway, request, socket, head),
  );

  const { guildId, channelId, userId, botId, applicationId, token } = identity;
  return {
    url,
    api: url + API,
    token,
    link: `${url}/enter/${identity.linkSecret}`,
    guildId,
    channelId,
    userId,
    botId,
    applicationId,
    gateway: gateway.controls,
    async close() {
      interactions.close();
      await gateway.close();
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
      memory.close();
      unlock();
    },
  };
}

function lock(dir: string): () => void {
  const path = join(dir, 'lock');
  const unlock = tryLock(path);
  if (unlock !== undefined) return unlock;
  throw new ThreadmuxError(
    'busy',
    `Process ${holderOf(path) ?? '(unknown)'} already serves the workspace in ${dir}.`,
    {
      hint: 'Use the one that is running, or stop it first.',
    },
  );
}

async function listenOn(server: Server, port: number, listen: string): Promise<number> {
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

/** The address to print: one that can be opened, also when we listen everywhere. */
function urlHost(listen: string): string {
  if (listen === '0.0.0.0' || listen === '::') return '127.0.0.1';
  return listen.includes(':') ? `[${listen}]` : listen;
}

/** A browser sends its cookie to any socket that any page opens, so here the Origin must be there and be ours. */
function upgrade(
  world: World,
  door: Door,
  gateway: Gateway,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  socket.on('error', () => socket.destroy());
  const asked = new URL(request.url ?? '/', 'http://workspace');
  const access = admit(world.identity, door, request.headers, 'POST');
  const known =
    asked.pathname === '/' || asked.pathname === '/gateway' || asked.pathname === '/gateway/';
  const plain =
    (asked.searchParams.get('encoding') ?? 'json') === 'json' &&
    !asked.searchParams.has('compress');
  const status =
    access.kind === 'refused'
      ? '403 Forbidden'
      : !known
        ? '404 Not Found'
        : plain
          ? undefined
          : '400 Bad Request';
  if (status !== undefined)
    return void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`);
  const actor = access.kind === 'actor' ? access.actor : 'bot';
  gateway.accept(request, socket, head, actor, asked.searchParams.get('v'));
}
