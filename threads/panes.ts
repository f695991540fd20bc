// Finds the pane of a thread: the one in its record or, if that is gone, the session's current pane.

import type { Config } from '../core/config.ts';
import { parseThreadTitle } from '../core/thread-title.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import { loadStreamRecord } from '../home/stream-record.ts';
import type { HostList } from '../tmux/host-list.ts';
import { lookAtPane } from '../tmux/look.ts';
import { isSocketPath } from '../tmux/pane.ts';
import { listSessions, type Session } from '../tmux/sessions.ts';
import { type Tmux, tmuxOn, unlessGone } from '../tmux/tmux.ts';
import { channelsOf } from './connections.ts';
import { talksInChannel } from './destination.ts';
import { sessionKey, type ThreadRecord } from './registry.ts';
import { isSessionOf, titleOrNone, unreportedSession } from './session-pane.ts';
import type { SessionPane, Threads } from './session-threads.ts';

export interface FoundPane {
  readonly tmux: Tmux;
  readonly record: ThreadRecord;
}

/** The pane of a record, whether or not it still exists. */
export function paneOnHost(hosts: HostList, record: ThreadRecord): FoundPane {
  return { record, tmux: tmuxOn(hosts.get(record.host), record.socket) };
}

type AThread = Pick<ThreadRef, 'id' | 'title' | 'parentId'>;

export interface PaneFinder {
  /** Undefined if the session does not exist. `again` checks whether the recorded pane still exists. */
  find(thread: AThread, again?: boolean): Promise<FoundPane | undefined>;
  hostOf(thread: Pick<ThreadRef, 'id' | 'title'>): string;
}

const DEADLINE_MS = 10_000;

export function createPaneFinder(
  { config, home, hosts }: { readonly config: Config; readonly home: Home; readonly hosts: HostList },
  { registry, connections, destinationOf }: Threads,
): PaneFinder {
  const hostOf: PaneFinder['hostOf'] = ({ id, title }) =>
    registry.get(id)?.host ??
    (loadStreamRecord(home, id) === undefined ? undefined : config.host) ??
    parseThreadTitle(title)?.host ??
    config.defaultHost;

  /** By its tmux ids, otherwise by its name, because it may have been restarted or the registry lost. */
  async function locate(thread: AThread): Promise<ThreadRecord | undefined> {
    const host = hostOf(thread);
    const known = registry.get(thread.id);
    const sessions = await sessionPanes(hosts, host, known ? [known] : [], DEADLINE_MS);
    const channel = known?.channel || thread.parentId;
    const belongs = (one: SessionPane) => {
      const to = destinationOf({ host, directory: one.path });
      if (to?.channel !== channel) return false;
      if (thread.id === channel) return talksInChannel(one, to.project, config);
      return known === undefined || isSessionOf(one, known, to.project);
    };
    const session =
      (known && sessions.find((one) => sessionKey(one) === sessionKey(known))) ??
      // A session with this name that belongs to another channel is not this thread's.
      sessions.find((one) => titleOrNone(one, config) === (known?.title ?? thread.title) && belongs(one));
    if (session === undefined) return undefined;
    const other = registry.ofSession(host, session);
    if (other !== undefined && other.thread !== thread.id) return undefined;
    const record: ThreadRecord = {
      ...(known ?? unknownThread(thread, serverOf(thread.parentId))),
      ...unreportedSession(session),
      closed: false,
      ending: false,
    };
    registry.put(record);
    return record;
  }

  const serverOf = (channel: string) =>
    connections.all().find(({ server }) => channelsOf(server).includes(channel))?.server.name ?? '';

  async function isThere(record: ThreadRecord): Promise<boolean> {
    const seen = await lookAtPane(paneOnHost(hosts, record).tmux, record);
    return seen.kind === 'pane' && seen.serverPid === record.serverPid && seen.panePid === record.panePid;
  }

  return {
    hostOf,
    async find(thread, again = false) {
      const known = registry.get(thread.id);
      const isKept =
        known !== undefined && !known.closed && (!again || known.shell === 'terminal' || (await isThere(known)));
      const record = isKept ? known : await locate(thread);
      return record && paneOnHost(hosts, record);
    },
  };
}

/** The fields of a record that are not about its session. */
function unknownThread({ id, title, parentId }: AThread, server: string) {
  return {
    thread: id,
    title,
    server,
    channel: parentId,
    last: id,
    posted: [],
    deliveries: [],
    archived: 'no',
    deleted: false,
    stoppedAt: 0,
    adopted: 'no',
    inChannel: id === parentId,
  } as const;
}

// Lists the sessions of a host, each with its active pane, on all tmux servers that we know there.

const ALIVE_MS = 10_000;

/** Hooks report from every tmux server of the user, not only from the one for new sessions. */
export async function sessionPanes(
  hosts: HostList,
  host: string,
  records: readonly Pick<ThreadRecord, 'socket'>[],
  timeoutMs: number,
): Promise<readonly SessionPane[]> {
  const own = await socketOf(hosts, host);
  const sockets = new Set([own, ...records.map(({ socket }) => socket)]);
  const lists = await Promise.all(
    [...sockets]
      .filter((socket) => socket !== undefined)
      .map(async (socket) =>
        (await listSessions(tmuxOn(hosts.get(host), socket), { timeoutMs })).map((session) =>
          toSessionPane(host, socket, session),
        ),
      ),
  );
  return lists.flat();
}

/** Rejects if the host is unreachable, because its sessions may still exist. */
export async function isAlive(hosts: HostList, record: ThreadRecord): Promise<boolean> {
  const { tmux } = paneOnHost(hosts, record);
  const sessions = await listSessions(tmux, { timeoutMs: ALIVE_MS });
  return sessions.some((one) => sessionKey(toSessionPane(record.host, '', one)) === sessionKey(record));
}

/** The socket of the server that new sessions are started on; undefined while none runs. */
export function socketOf(hosts: HostList, host: string): Promise<string | undefined> {
  return hosts
    .tmux(host)
    .run(['display-message', '-p', '#{socket_path}'])
    .then((path) => (isSocketPath(path.trim()) ? path.trim() : undefined))
    .catch(unlessGone(undefined));
}

export function toSessionPane(host: string, socket: string, session: Session): SessionPane {
  const { pane } = session;
  return {
    host,
    socket,
    serverPid: session.serverPid,
    paneId: pane.id,
    panePid: pane.pid,
    sessionId: session.id,
    sessionName: session.name,
    group: session.group,
    command: pane.command,
    path: pane.path,
    started: session.started,
  };
}
