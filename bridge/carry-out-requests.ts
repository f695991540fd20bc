// Carries out the requests of programs, also those that an earlier process has not finished. Each can be repeated: a session or stream
// that this request has started is found again by the request's id. A request whose program is gone is dropped.

import { readdirSync } from 'node:fs';
import { errorData, isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { parseSessionName } from '../core/session-name.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { readJson, removeBestEffort, writeJson } from '../home/atomic-write.ts';
import { processStart } from '../home/lock.ts';
import { watchFolder } from '../home/watch-folder.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import { parseStarted, rememberedSession, startOf } from '../threads/remembered-session.ts';
import type { Shared } from '../threads/shared-services.ts';
import type { CommandContext } from './commands/command.ts';
import { type BegunSession, beginSession } from './commands/new.ts';
import { beginAgent, beginTerminal } from './commands/streams.ts';
import {
  type ProgramRequest,
  type RequestDone,
  type RequestOutcome,
  requestOutcomePath,
  requestPath,
  requestSchema,
  type StartRequest,
} from './program-requests.ts';
import type { StreamThread } from './stream-threads.ts';

const LOOK_MS = 2_000;

/** `tools`: those of each server, the first server first. */
export function carryOutRequests(shared: Shared, context: readonly CommandContext[]): { close(): void } {
  const { home, log } = shared;
  const folder = home.folder('requests');
  const running = new Set<string>();
  /** Sessions of agents that are being started, and are not in the registry yet. */
  const starting = new Set<string>();

  async function carryOut(request: ProgramRequest): Promise<void> {
    const outcome: RequestOutcome = await act(request).then(
      (done) => ({ done }),
      (error: unknown) => {
        if (!isThreadmuxError(error)) log.error('a request', { what: request.what, because: String(error) });
        return errorData(error);
      },
    );
    writeJson(requestOutcomePath(home, request.id), outcome);
    removeBestEffort(requestPath(home, request.id));
  }

  function act(request: ProgramRequest): Promise<RequestDone> {
    return request.what === 'start'
      ? start(request, shared, { all: context, starting })
      : startStream(request, context);
  }

  function look(): void {
    for (const name of readdirSync(folder).filter((one) => /^[0-9a-f]{32}\.json$/.test(one))) {
      const request = readJson(requestPath(home, name.slice(0, 32)), requestSchema);
      if (request === undefined || processStart(request.asker) === 'gone') {
        removeBestEffort(requestPath(home, name.slice(0, 32)));
        continue;
      }
      if (running.has(request.id)) continue;
      running.add(request.id);
      carryOut(request)
        .catch((error: Error) => log.error('a request', { what: request.what, because: error.message }))
        .finally(() => running.delete(request.id));
    }
  }

  /** The system may have no free file descriptor for a while. */
  function tryLook(): void {
    try {
      look();
    } catch (error) {
      log.warn('looking for requests', { because: (error as Error).message });
    }
  }

  const stopWatching = watchFolder(folder, tryLook, LOOK_MS);
  const timer = setInterval(tryLook, LOOK_MS);
  tryLook();
  return {
    close() {
      clearInterval(timer);
      stopWatching();
    },
  };
}

interface StartParts {
  readonly all: readonly CommandContext[];
  readonly starting: Set<string>;
}

async function start(request: StartRequest, shared: Shared, { all, starting }: StartParts): Promise<RequestDone> {
  const { threads, config } = shared;
  const name = parseSessionName(request.name);
  const host = request.host;
  const before = rememberedSession(threads.registry.all(), { name, host, defaultHost: host });
  const directory = request.directory ?? (before && startOf(before).directory) ?? '~';
  const server = threads.destinationOf({ host, directory })?.server.name;
  const context = all.find((one) => one.server.name === server);
  if (context === undefined)
    throw new ThreadmuxError('bad_usage', `no channel is configured for sessions in ${untrustedCode(directory)}`, {
      hint: 'Start it in the directory of a project, or add one to "projects" in config.json.',
    });
  const own = () => threads.registry.all().find((one) => !one.closed && one.host === host && one.sessionName === name);
  const isRepeated = startedBy(own()) === request.id;
  const isNew = request.byAgent && !isRepeated && own() === undefined;
  if (isNew) checkRoom(threads.registry.all(), starting, config.maxThreads);
  if (isNew) starting.add(keyOf(host, name));
  const { begun } = await beginSession(
    {
      name,
      host,
      directory,
      command: undefined,
      settings: request.settings,
      continues: request.continues,
      before,
      ...(request.byAgent ? { request: request.id } : {}),
    },
    context,
  ).finally(() => starting.delete(keyOf(host, name)));
  return {
    name,
    host,
    created: begun.is !== 'there' || isRepeated,
    is: begun.is,
    thread: threadOf(begun) ?? own()?.thread ?? null,
    branch: ('branch' in begun && begun.branch) || null,
  };
}

const threadOf = (begun: BegunSession) => (begun.is === 'there' ? undefined : begun.thread);
const startedBy = (record: ThreadRecord | undefined) => record && parseStarted(record.started)?.request;

const keyOf = (host: string, name: string) => `${name}@${host}`;

/** An agent that starts agents must not fill the machine, also not with many requests at the same time. */
function checkRoom(records: readonly ThreadRecord[], starting: ReadonlySet<string>, most: number): void {
  const live = records.filter((one) => !one.closed && startedBy(one) !== undefined);
  const all = new Set([...live.map(({ host, sessionName }) => keyOf(host, sessionName)), ...starting]);
  if (all.size < most) return;
  const names = [...all].map((name) => untrustedCode(name)).join(', ');
  throw new ThreadmuxError('busy', `agents have already started ${all.size} sessions, and the limit is ${most}`, {
    hint: `Stop one of them (${names}), or raise "maxThreads" in config.json.`,
  });
}

async function startStream(
  request: Exclude<ProgramRequest, StartRequest>,
  all: readonly CommandContext[],
): Promise<RequestDone> {
  let failure: unknown = new ThreadmuxError('not_running', 'no server is connected yet', { hint: 'Try again later.' });
  for (const context of all) {
    try {
      return streamDone(await beginOne(request, context), context);
    } catch (error) {
      // Another server may have this directory.
      if (!isThreadmuxError(error, 'bad_usage')) throw error;
      failure = error;
    }
  }
  throw failure;
}

function beginOne(request: Exclude<ProgramRequest, StartRequest>, context: CommandContext): Promise<StreamThread> {
  const { order: id, directory: dir } = request;
  if (request.what === 'terminal') return beginTerminal({ id, dir, asked: request.command }, context);
  const { prompt: asked, skipPermissions, agent } = request;
  return beginAgent({ id, dir, asked, skipPermissions, agent }, context);
}

function streamDone(stream: StreamThread, { config }: CommandContext): RequestDone {
  const { name, thread, far } = stream.record();
  return { name, host: far?.host ?? config.host, thread, created: true, is: 'up', branch: null };
}
