// The context that every handler of the courier gets, one per host; nothing is global.

import { join } from 'node:path';
import * as z from 'zod';
import { parseStatusLineInput } from '../agents/status-line.ts';
import { parsedForeignJson } from '../core/json.ts';
import { createKeyedQueue, type KeyedQueue } from '../core/keyed-queue.ts';
import { shortId } from '../core/snowflake.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import type { Host } from '../hosts/host.ts';
import { type HostFiles, hostFiles, localFiles } from '../hosts/host-files.ts';
import { type AgentStatus, createAgentStatus } from '../threads/agent-status.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import type { Shared } from '../threads/shared-services.ts';
import { settingsInForce } from '../threads/thread-settings.ts';
import { followedTurn } from './followed-turn.ts';
import { createProgress, type Progress } from './progress.ts';
import type { ProgressLevel } from './progress-text.ts';
import { createReportedTurns, type ReportedTurns } from './reported-turns.ts';

/** The context for letters of one host. */
export interface CourierContext extends Omit<Shared, 'sessionOf'> {
  readonly host: Host;
  /** Files on that host. */
  readonly files: HostFiles;
  readonly sessionOf: (tmux: string, pane: string, again?: boolean) => Promise<SessionPane | undefined>;
  readonly shown: ReturnType<typeof openPostedTexts>;
  readonly progress: Progress;
  readonly reported: ReportedTurns;
  /** One letter at a time per thread: the parts of two replies must not mix. */
  readonly inTurn: KeyedQueue;
  /** What the status line said last. `brought` comes with the letter; without it, the saved status is read. */
  statusOf(claudeSession: string, brought: string | undefined): ReturnType<AgentStatus>;
}

export type CourierContexts = ReturnType<typeof openCourierContexts>;

export function openCourierContexts(shared: Shared) {
  const { home, log, hosts } = shared;
  const statusOf = createAgentStatus(shared);
  const common = {
    shown: openPostedTexts(home),
    reported: createReportedTurns(),
    progress: createProgress({ home, log, levelOf: (thread) => progressLevel(thread, shared) }),
    inTurn: createKeyedQueue(),
  };
  const contexts = new Map<string, CourierContext>();

  function open(name: string): CourierContext {
    const host = hosts.get(name);
    const isLocal = hosts.isLocal(name);
    const files = isLocal ? localFiles() : hostFiles(host);
    return {
      ...shared,
      ...common,
      host,
      files,
      sessionOf: (tmux, pane, again) => shared.sessionOf(name, tmux, pane, again),
      statusOf: async (claudeSession, brought) =>
        brought ? parseStatusLineInput(parsedForeignJson(brought)) : statusOf(name, claudeSession),
    };
  }

  function of(name: string): CourierContext {
    const context = contexts.get(name) ?? open(name);
    contexts.set(name, context);
    return context;
  }

  return {
    progress: common.progress,
    of,
    /** Continues to follow the turns on these hosts that an earlier process followed. */
    takeUp(names: readonly string[]): void {
      common.progress.takeUp(
        ({ host }) => names.includes(host) || !hosts.names().includes(host),
        (key, turn) => {
          const server = shared.threads.registry.get(turn.thread)?.server ?? '';
          const rest = shared.connections.named(server)?.rest;
          if (rest === undefined || !names.includes(turn.host)) return undefined;
          return followedTurn(key, turn, of(turn.host), rest);
        },
      );
    },
  };
}

function progressLevel(thread: string, { threads, config }: Pick<Shared, 'threads' | 'config'>): ProgressLevel {
  const record = threads.registry.get(thread);
  return (record && settingsInForce(record, threads).progress) ?? config.progress;
}

// Remembers which texts of agents were posted, by their ids. The ids stay the same after renames,
// restarts and a second Stop in one turn.

const schema = z.record(
  z.string(),
  z.object({ prompt: z.string(), texts: z.array(z.string()), turn: z.string().default('') }),
);

type Entry = z.output<typeof schema>[string];

const SESSIONS_KEPT = 200;
const TEXTS_KEPT = 400;

function openPostedTexts(home: Home) {
  const path = join(home.folder('state'), 'shown.json');
  const sessions = new Map(Object.entries(readJson(path, schema) ?? {}));

  function put(session: string, to: Partial<Entry>): void {
    const before = sessions.get(session) ?? { prompt: '', texts: [], turn: '' };
    sessions.delete(session);
    sessions.set(session, { ...before, ...to });
    for (const oldest of sessions.keys()) {
      if (sessions.size <= SESSIONS_KEPT) break;
      sessions.delete(oldest);
    }
    writeBestEffort(path, Object.fromEntries(sessions));
  }

  return {
    has: (session: string, text: string) => sessions.get(session)?.texts.includes(shortId(text)) ?? false,
    /** Whether the turn of this prompt has ended in the thread. */
    answered: (session: string, prompt: string) => prompt !== '' && sessions.get(session)?.prompt === prompt,
    /** `ended`: the prompt whose turn ends with these texts. */
    add(session: string, texts: readonly string[], ended?: string): void {
      const before = sessions.get(session)?.texts ?? [];
      const fresh = texts.map(shortId).filter((id) => !before.includes(id));
      put(session, {
        ...(ended === undefined ? {} : { prompt: ended }),
        texts: [...before, ...fresh].slice(-TEXTS_KEPT),
      });
    },
    /** A turn begins. Its id is used if the report of its end has none. */
    begin: (session: string, turn: string) => put(session, { turn }),
    turnOf: (session: string) => sessions.get(session)?.turn ?? '',
  };
}
