// Finds the session that a command names, by its exact name, or the session that the command runs in. The ssh connections stay
// open, because a running bridge uses the same ones.

import { findSessions } from '../bridge/commands/sessions.ts';
import type { Config } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { silentLog } from '../core/log.ts';
import { ownValue } from '../core/own-value.ts';
import type { Home } from '../home/home.ts';
import { localHost } from '../hosts/host.ts';
import { filesForHosts } from '../install/program-files.ts';
import { loadThreadRecord, loadThreadRecords, sessionKey, type ThreadRecord } from '../threads/registry.ts';
import { openRemoteHosts, type RemoteHosts } from '../threads/remote-hosts.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { type HostList, openHostList } from '../tmux/host-list.ts';
import { currentPane, type PaneRef } from '../tmux/pane.ts';
import { listSessions, type Session } from '../tmux/sessions.ts';
import { type Tmux, tmuxOn } from '../tmux/tmux.ts';
import { type CliContext, openContext, openHookContext } from './command-context.ts';
import { printable, withProgress } from './print.ts';

export interface SessionFinder {
  readonly home: Home;
  readonly config: Config;
  readonly hosts: HostList;
  readonly remote: RemoteHosts;
  /** The registered threads; only the bridge writes them. */
  readonly records: readonly ThreadRecord[];
}

export interface SessionTarget {
  readonly host: string;
  readonly tmux: Tmux;
  readonly session: Session;
  /** Undefined if no hook has reported from the session. */
  readonly record: ThreadRecord | undefined;
}

const TIMEOUT_MS = 15_000;

/** For a program in a session: its environment may lack variables that the bridge has. */
export function openInnerFinder(): SessionFinder {
  return openSessionFinder(openHookContext('cli'));
}

export function openSessionFinder(
  { home, config }: Pick<CliContext, 'home' | 'config'> = openContext('cli'),
): SessionFinder {
  const hosts = openHostList({ config, home, env: process.env });
  const remote = openRemoteHosts({
    hosts,
    name: config.host,
    files: (name) => filesForHosts(name, config.tellAgent),
    log: silentLog,
    home,
  });
  return { home, config, hosts, remote, records: loadThreadRecords(home) };
}

/** `name` may be `name@host`, or a session id such as `$3` for names that are hard to type. */
export async function findTarget(
  finder: SessionFinder,
  name: string | undefined,
  host: string | undefined,
): Promise<SessionTarget> {
  if (name === undefined) return ownSession(finder, host);
  const place = hostAndName(finder, name, host);
  const found = await withProgress(`connecting to ${place.host}`, findSessions(place.host, finder, TIMEOUT_MS));
  const one =
    found.find(({ session }) => session.name === place.session) ??
    found.find(({ session }) => session.id === place.session);
  if (one !== undefined) return { ...one, tmux: finder.hosts.tmux(place.host) };
  const near = found.map(({ session }) => session.name).filter((it) => it.includes(place.session));
  throw new ThreadmuxError(
    'session_not_found',
    `no session ${printable(JSON.stringify(place.session))} on ${place.host}`,
    {
      hint:
        near.length > 0
          ? `Use the exact name. Similar sessions: ${near.slice(0, 5).map(printable).join(', ')}.`
          : `Run \`threadmux sessions\` to list the sessions.${unknownHost(name, host, finder)}`,
    },
  );
}

/** In `name@host`, a host that is not configured makes all of it the name. */
function unknownHost(name: string, host: string | undefined, { hosts }: SessionFinder): string {
  const at = name.lastIndexOf('@');
  if (host !== undefined || at < 1 || hosts.names().includes(name.slice(at + 1))) return '';
  return ` ${printable(JSON.stringify(name.slice(at + 1)))} is no configured host; these are: ${hosts.names().join(', ')}.`;
}

/** The host, and the session's name there. If `host` is given, an "@" is part of the name. */
export function hostAndName(
  { config, hosts }: Pick<SessionFinder, 'config' | 'hosts'>,
  name: string,
  host: string | undefined,
): { readonly session: string; readonly host: string } {
  const at = name.lastIndexOf('@');
  const place =
    host === undefined && at > 0 && ownValue(config.hosts, name.slice(at + 1)) !== undefined
      ? { session: name.slice(0, at), host: name.slice(at + 1) }
      : { session: name, host: host ?? config.defaultHost };
  hosts.get(place.host); // throws if the host is unknown
  return place;
}

/** The pane that the hooks reported from; otherwise the session's active pane. */
export function paneOf({ session, record }: Pick<SessionTarget, 'session' | 'record'>): PaneRef {
  return record ?? { serverPid: session.serverPid, paneId: session.pane.id, panePid: session.pane.pid };
}

/** What the registry says of it now. */
export function recordNow(home: Home, { host, session, record }: SessionTarget): ThreadRecord | undefined {
  if (record !== undefined) return loadThreadRecord(home, record.thread) ?? record;
  const key = sessionKey({ ...session, sessionId: session.id });
  return loadThreadRecords(home).find((one) => !one.closed && one.host === host && sessionKey(one) === key);
}

/** The pane that this process runs in; undefined outside tmux. */
export async function ownPane({ config }: Pick<SessionFinder, 'config'>): Promise<SessionPane | undefined> {
  const { TMUX = '', TMUX_PANE = '' } = process.env;
  const pane = await currentPane(localHost({ name: config.host, env: process.env }), TMUX, TMUX_PANE);
  return pane && { ...pane, host: config.host };
}

async function ownSession({ records: all, config }: SessionFinder, host: string | undefined): Promise<SessionTarget> {
  const me = host === undefined ? await ownPane({ config }) : undefined;
  const tmux = tmuxOn(localHost({ name: config.host, env: process.env }), me?.socket);
  const session =
    me && (await listSessions(tmux)).find(({ id, serverPid }) => id === me.sessionId && serverPid === me.serverPid);
  if (me === undefined || session === undefined)
    throw new ThreadmuxError('bad_usage', 'no session given', {
      hint: 'Give its name; you can omit it only inside tmux. Run `threadmux sessions` to list the sessions.',
    });
  const records = all.filter(({ serverPid, sessionId }) => serverPid === session.serverPid && sessionId === session.id);
  const record = records.find(({ paneId }) => paneId === me.paneId) ?? records[0];
  return { host: config.host, tmux, session, record };
}
