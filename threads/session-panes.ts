// The sessions of a host with the pane that has their focus, on every tmux server that we know there.

import { isThreadmuxError } from '../core/errors.ts';
import type { HostList } from '../tmux/host-list.ts';
import { listSessions, type Session } from '../tmux/sessions.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { SessionPane } from './session-threads.ts';
import { sessionKey, type ThreadRecord } from './thread-record.ts';

const ALIVE_MS = 10_000;

/** Hooks report from any server a person runs, not only from the one that new sessions go to. */
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

/** An unreachable host rejects: its sessions are not known to be gone. */
export async function isAlive(hosts: HostList, record: ThreadRecord): Promise<boolean> {
  const tmux = tmuxOn(hosts.get(record.host), record.socket);
  const sessions = await listSessions(tmux, { timeoutMs: ALIVE_MS });
  return sessions.some((one) => sessionKey(toSessionPane(record.host, '', one)) === sessionKey(record));
}

/** The socket of the server that new sessions are started on; undefined while none runs. */
export function socketOf(hosts: HostList, host: string): Promise<string | undefined> {
  return hosts
    .tmux(host)
    .run(['display-message', '-p', '#{socket_path}'])
    .then((path) => path.trim())
    .catch((error: unknown) => {
      if (isThreadmuxError(error, 'session_not_found')) return undefined;
      throw error;
    });
}

export function toSessionPane(host: string, socket: string, session: Session): SessionPane {
  const { pane } = session;
  return {
    ...{ host, socket, serverPid: session.serverPid, paneId: pane.id, panePid: pane.pid },
    ...{ sessionId: session.id, sessionName: session.name, group: session.group },
    ...{ command: pane.command, path: pane.path },
  };
}
