// What an agent may reach with the tools: the sessions of its own server, but not itself, and only its own directory, projects and roots.

import { rootsOfHosts } from '../../core/config.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { projectsOf } from '../../core/project.ts';
import { openAllowedDirectories } from '../../streams/allowed-directories.ts';
import { openAllowedHostDirectories } from '../../streams/allowed-host-directories.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { sessionKey } from '../../threads/registry.ts';
import { rememberedSession, startOf } from '../../threads/remembered-session.ts';
import type { SessionPane } from '../../threads/session-threads.ts';
import { findTarget, ownPane, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { configuredProject, configuredServers } from './configured-project.ts';

export interface Caller {
  /** Undefined outside tmux. */
  readonly pane: SessionPane | undefined;
  readonly record: ThreadRecord | undefined;
  readonly directory: string;
}

export async function findCaller(finder: SessionFinder): Promise<Caller> {
  const pane = await ownPane(finder);
  const record =
    pane && finder.records.find((one) => !one.closed && one.host === pane.host && sessionKey(one) === sessionKey(pane));
  return { pane, record, directory: record?.project || record?.cwd || process.cwd() };
}

type Listed = Pick<SessionTarget, 'host' | 'session' | 'record'>;

/** Sessions of another server are not mentioned, as in the thread. */
export function isVisible({ host, session, record }: Listed, { record: own }: Caller, finder: SessionFinder): boolean {
  if (own === undefined) return true;
  const server = record?.server ?? configuredProject(finder, host, session.pane.path)?.server;
  return server === own.server;
}

export function isOwnSession({ host, session }: Listed, { pane }: Caller): boolean {
  return pane?.host === host && sessionKey(pane) === sessionKey({ ...session, sessionId: session.id });
}

/** Rejects for the caller's own session, which would wait for itself. */
export async function findOther(name: string, caller: Caller, finder: SessionFinder): Promise<SessionTarget> {
  const target = await findVisible(name, caller, finder);
  if (!isOwnSession(target, caller)) return target;
  throw new ThreadmuxError('bad_usage', 'this is your own session', { hint: 'Name another session.' });
}

export async function findVisible(name: string, caller: Caller, finder: SessionFinder): Promise<SessionTarget> {
  const target = await findTarget(finder, name, undefined);
  if (isVisible(target, caller, finder)) return target;
  throw new ThreadmuxError('session_not_found', `no session ${JSON.stringify(name)}`, {
    hint: 'list_sessions names the sessions.',
  });
}

interface WantedPlace {
  readonly name: string;
  readonly host: string;
  readonly directory: string | undefined;
}

/** The directory with all links resolved. Rejects if it is not the caller's own, a project or inside the roots. */
export async function allowedDirectory(
  { name, host, directory }: WantedPlace,
  caller: Caller,
  finder: SessionFinder,
): Promise<string> {
  const { config, hosts } = finder;
  const isLocal = hosts.isLocal(host);
  const known = rememberedSession(finder.records, { name, host, defaultHost: host });
  const wanted = directory ?? (known && startOf(known).directory) ?? (isLocal ? caller.directory : undefined);
  if (wanted === undefined)
    throw new ThreadmuxError('bad_usage', `a directory on ${host} is missing`, { hint: 'Give "directory".' });
  if (!/^[~/]/.test(wanted))
    throw new ThreadmuxError('bad_usage', 'the directory is not an absolute path', {
      hint: 'Begin it with "/" or "~/".',
    });
  const projects = projectsOf(config, configuredServers(finder))
    .filter((one) => one.path !== '' && (one.host ?? config.defaultHost) === host)
    .map(({ path }) => path);
  if (!isLocal) {
    const roots = [...(rootsOfHosts(config)[host] ?? []), ...projects];
    const there = openAllowedHostDirectories({
      here: locally([]),
      roots: { [host]: roots },
      own: config.host,
      host: hosts.get,
    });
    return there.on(host).resolve(wanted);
  }
  return locally([...projects, caller.directory]).resolve(wanted);

  function locally(allowed: readonly string[]) {
    return openAllowedDirectories({
      projects: allowed,
      roots: config.roots,
      homedir: process.env.HOME ?? '/',
      wholePaths: true,
    });
  }
}
