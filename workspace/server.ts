// The embedded workspace: Discord's API for one user on one machine. This file only connects the parts.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { tryBestEffort } from '../home/atomic-write.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import { type AdmittedCaller, admitBot, admitPerson, type WorkspaceEntrance } from './access/admit.ts';
import { makeSignIn, makeSignInRequests } from './access/sign-in.ts';
import { makeFiles, makePages } from './assets.ts';
import { greet, makeClientSessions } from './gateway/client-sessions.ts';
import { makeGatewayServer } from './gateway/gateway-server.ts';
import { publishPanel, publishState } from './gateway/publish.ts';
import { tellOutcome } from './interaction-messages.ts';
import { listenAt, listenOn, makeServer, pageHost, serve } from './listening.ts';
import { makeOpenInteractions } from './open-interactions.ts';
import { changeThread } from './posting.ts';
import { API, type Inspection, makeRestServer } from './rest-server.ts';
import { commandRoutes, guildRoutes } from './routes/commands.ts';
import { callbackRoutes } from './routes/interaction-replies.ts';
import { messageRoutes } from './routes/messages.ts';
import { reactionRoutes } from './routes/reactions.ts';
import { threadRoutes } from './routes/threads.ts';
import { personRoutes } from './routes/user-actions.ts';
import { openMemory } from './storage/journal.ts';
import type { StoredThread, WorkspaceState } from './storage/store.ts';
import { openUploads, uploadsOf } from './storage/uploads.ts';
import {
  type Identity,
  loadIdentity,
  type PanelData,
  type ThreadState,
  type WorkspaceContext,
} from './workspace-context.ts';

export interface WorkspaceOptions {
  /** The folder for all data. */
  readonly dir: string;
  /** 0, the default, uses any free port. */
  readonly port?: number;
  readonly listen?: string;
  readonly heartbeatMs?: number;
  readonly nonceWindowMs?: number;
  /** Like the switch in Discord's developer portal. */
  readonly messageContentIntent?: boolean;
  /** Only for tests: see rest-server.ts. */
  readonly inspection?: Inspection;
  readonly log?: (line: string) => void;
}

export interface Workspace extends Identity {
  /** The address of the page. */
  readonly url: string;
  /** The bot's Unix socket; only our own user can open it. */
  readonly api: string;
  /** Signs in one browser, once, within 15 minutes. */
  newLink(): string;
  /** What the session of a thread does, for the page. */
  tellState(thread: string, state: ThreadState): void;
  /** What the view of all sessions shows. */
  tellPanel(view: PanelData): void;
  close(): Promise<void>;
}

const ROUTES = [
  ...guildRoutes,
  ...messageRoutes,
  ...reactionRoutes,
  ...threadRoutes,
  ...commandRoutes,
  ...callbackRoutes,
  ...personRoutes,
];
/** Discord limits identifies per day; a local program that is often restarted must not be locked out. */
const SESSION_STARTS = { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 16 };
const RESUMABLE_MS = 3 * 60_000;

export async function startWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { dir } = options;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700); // it may exist with other permissions
  const unlock = lock(dir);
  try {
    return await open(options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function open(options: WorkspaceOptions, unlock: () => void): Promise<Workspace> {
  const { dir, log = () => {}, inspection = {} } = options;
  const identity = loadIdentity(dir);
  const memory = openMemory(join(dir, 'journal.jsonl'), log);
  const [server, botServer] = [makeServer(log), makeServer(log)];
  const socket = join(dir, 'socket');
  const isChosen = (options.port ?? 0) === 0;
  // A name has two addresses.
  const listen =
    options.listen === undefined || (isChosen && options.listen === 'localhost') ? '127.0.0.1' : options.listen;
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
  const door: AdmittedCaller = { listen, port, isChosen };
  const url = `http://${pageHost(door)}:${port}`;
  const gatewayUrl = (host: string) => `ws://${host}/gateway`;
  const signIn = makeSignIn(join(dir, 'keys.json'));
  const newLink = () => `${url}/#/enter/${signIn.newCode()}`;

  const sessions = makeClientSessions(RESUMABLE_MS);
  const interactions = makeOpenInteractions((late) => tellOutcome(context, late, 'INTERACTION_FAILURE'));
  const attachments = openUploads(join(dir, 'files'));
  attachments.sweep(uploadsOf(memory.state));
  const messageContentIntent = options.messageContentIntent ?? true;
  const context: WorkspaceContext = {
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
    states: new Map(),
    panel: { view: { rows: [], worktrees: [], choices: {} } },
    gatewayInfo: (host) => ({ url: gatewayUrl(host), shards: 1, session_start_limit: SESSION_STARTS }),
  };
  const gateway = makeGatewayServer({
    gate: { token: identity.token, messageContentIntent },
    sessions,
    inspection,
    heartbeatMs: options.heartbeatMs ?? 41_250,
    isPerson: signIn.isSession,
    greet: (session, host) => greet(context, session, gatewayUrl(host)),
  });
  const rest = makeRestServer({ context, routes: ROUTES, inspection, log });
  const forBot: WorkspaceEntrance = { actor: 'bot', admit: (headers) => admitBot(identity.token, headers) };
  const forPerson: WorkspaceEntrance = {
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
  const stopArchiving = archiveIdleThreads(context);

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
  return {
    ...identity,
    url,
    api: `unix:${socket}:${API}`,
    newLink,
    tellState: (thread, state) => publishState(context, thread, state),
    tellPanel: (view) => publishPanel(context, view),
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
  throw new ThreadmuxError('busy', `Process ${holderOf(path) ?? '(unknown)'} already serves the workspace in ${dir}.`, {
    hint: 'Use the one that is running, or stop it first.',
  });
}

// Archives threads after the time without messages that they are set to, as on Discord.
const LOOK_EVERY_MS = 60_000;

/** Returns a function that stops it. */
function archiveIdleThreads(context: WorkspaceContext): () => void {
  const timer = setInterval(() => {
    tryBestEffort('the journal of the workspace', () => {
      for (const thread of idleThreads(context.state, Date.now())) changeThread(context, thread, { archived: true });
    });
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

export function idleThreads(state: WorkspaceState, now: number): StoredThread[] {
  return [...state.threads.values()].filter((thread) => {
    const lastMessage = state.lastMessage.get(thread.id);
    const said = lastMessage === undefined ? 0 : snowflakeTime(lastMessage);
    const activeAt = Math.max(said, Date.parse(thread.archive_timestamp));
    return !thread.archived && now - activeAt > thread.auto_archive_duration * 60_000;
  });
}
