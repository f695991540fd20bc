// The embedded workspace: a small Discord for one person on one machine. This file only puts the parts together.

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import { admitBot, admitPerson, type Door, type Entrance } from './access.ts';
import { openAttachments } from './attachments.ts';
import { archiveIdleThreads } from './auto-archive.ts';
import { makeGateway } from './gateway.ts';
import { API, makeRest } from './http.ts';
import { loadIdentity } from './identity.ts';
import type { Inspection } from './inspection.ts';
import { tellOutcome } from './interaction-messages.ts';
import { makeInteractions } from './interactions.ts';
import { listenAt, listenOn, makeServer, serve, urlHost } from './listening.ts';
import { openMemory } from './memory.ts';
import { makeFiles, makePages } from './pages.ts';
import { greet } from './ready.ts';
import { uploadsOf } from './retention.ts';
import { callbackRoutes } from './routes-callbacks.ts';
import { commandRoutes } from './routes-commands.ts';
import { guildRoutes } from './routes-guild.ts';
import { messageRoutes } from './routes-messages.ts';
import { personRoutes } from './routes-person.ts';
import { reactionRoutes } from './routes-reactions.ts';
import { threadListRoutes } from './routes-thread-lists.ts';
import { threadRoutes } from './routes-threads.ts';
import { makeSessions } from './sessions.ts';
import { makeSignIn } from './sign-in.ts';
import { makeSignInRequests } from './sign-in-requests.ts';
import type { World } from './world.ts';

export interface WorkspaceOptions {
  /** Where everything is kept. */
  readonly dir: string;
  /** 0, the default, takes any free one. */
  readonly port?: number;
  readonly listen?: string;
  readonly heartbeatMs?: number;
  readonly nonceWindowMs?: number;
  /** Stands for the switch in Discord's developer portal. */
  readonly messageContentIntent?: boolean;
  /** Only for tests: see inspection.ts. */
  readonly inspection?: Inspection;
  readonly log?: (line: string) => void;
}

export interface Workspace {
  /** Of the page. */
  readonly url: string;
  /** Of the bot: a Unix socket that only our own user can open. */
  readonly api: string;
  readonly token: string;
  readonly guildId: string;
  readonly channelId: string;
  readonly userId: string;
  readonly botId: string;
  readonly applicationId: string;
  /** Signs one browser in, once, within a quarter of an hour. */
  newLink(): string;
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
/** Nobody is locked out of a local program that they restart many times. */
const SESSION_STARTS = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 16 };
const RESUMABLE_MS = 3 * 60_000;

export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { dir } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700); // it may have been there before, with other rights
  const unlock = lock(dir);
  try {
    return await open(options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(options: WorkspaceOptions, unlock: () => void): Promise<Workspace> {
  const { dir, listen = '127.0.0.1', log = () => {}, inspection = {} } = options;
  const identity = loadIdentity(dir);
  const memory = openMemory(join(dir, 'journal.jsonl'), log);
  const [server, botServer] = [makeServer(log), makeServer(log)];
  const socket = join(dir, 'socket');
  const port = await listenOn(server, options.port ?? 0, listen)
    .then(async (taken) => {
      await listenAt(botServer, socket);
      return taken;
    })
    .catch((error: unknown) => {
      server.close();
      memory.close();
      throw error;
    });
  const door: Door = { listen, port };
  const url = `http://${urlHost(listen)}:${port}`;
  const gatewayUrl = (host: string) => `ws://${host}/gateway`;
  const signIn = makeSignIn(join(dir, 'keys.json'));
  const newLink = () => `${url}/#/enter/${signIn.newCode()}`;

  const sessions = makeSessions(RESUMABLE_MS);
  const interactions = makeInteractions((late) => tellOutcome(world, late, 'INTERACTION_FAILURE'));
  const attachments = openAttachments(join(dir, 'files'));
  attachments.sweep(uploadsOf(memory.state));
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
    newLink,
    gatewayInfo: (host) => ({
      url: gatewayUrl(host),
      shards: 1,
      session_start_limit: SESSION_STARTS,
    }),
  };
  const gateway = makeGateway({
    gate: { token: identity.token, messageContentIntent },
    sessions,
    inspection,
    heartbeatMs: options.heartbeatMs ?? 41_250,
    isPerson: signIn.isSession,
    greet: (session, host) => greet(world, session, gatewayUrl(host)),
  });
  const rest = makeRest({ world, routes: ROUTES, inspection, log });
  const forBot: Entrance = {
    actor: 'bot',
    admit: (headers) => admitBot(identity.token, headers),
  };
  const forPerson: Entrance = {
    actor: 'person',
    admit: (headers) => admitPerson(door, signIn.isSession, headers),
  };
  serve(botServer, { entrance: forBot, rest, pages: makeFiles(attachments), gateway, log });
  serve(server, {
    entrance: forPerson,
    rest,
    pages: makePages(attachments, door),
    signIn: makeSignInRequests(signIn, door),
    gateway,
    log,
  });
  const stopArchiving = archiveIdleThreads(world);

  const close = async () => {
    stopArchiving();
    interactions.close();
    await gateway.close();
    for (const one of [server, botServer]) {
      one.closeAllConnections();
      await new Promise<void>((closed) => one.close(() => closed()));
    }
    memory.close();
    unlock();
  };
  let closing: Promise<void> | undefined;
  const { guildId, channelId, userId, botId, applicationId, token } = identity;
  return {
    url,
    api: `unix:${socket}:${API}`,
    token,
    newLink,
    guildId,
    channelId,
    userId,
    botId,
    applicationId,
    close() {
      closing ??= close();
      return closing;
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
