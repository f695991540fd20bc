// Finds the run of a declared session among the panes of its host, on all tmux servers that we know there.

import { socketOf } from '../../threads/panes.ts';
import { type Registry, sessionKey } from '../../threads/registry.ts';
import { isDeclaredStart } from '../../threads/remembered-session.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { listRunPanes, type RunPane, removeDeadPane } from '../../tmux/session-runs.ts';
import { stopKeeping } from '../../tmux/sessions.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { isSameRun, type SeenRun, type SessionRun } from './decide-start.ts';

export interface HostPane extends RunPane {
  readonly host: string;
  readonly socket: string;
}

const TIMEOUT_MS = 10_000;

/** Rejects if the host cannot be reached. */
export async function panesOfHost(hosts: HostList, host: string, registry: Registry): Promise<readonly HostPane[]> {
  const own = await socketOf(hosts, host);
  const live = registry.all().filter((one) => one.host === host && !one.closed && one.shell !== 'terminal');
  const sockets = [...new Set([own, ...live.map(({ socket }) => socket)])].filter((one) => one !== undefined);
  const lists = await Promise.all(
    sockets.map(async (socket) => {
      const panes = await listRunPanes(tmuxOn(hosts.get(host), socket), { timeoutMs: TIMEOUT_MS });
      return panes.map((pane) => ({ ...pane, host, socket }));
    }),
  );
  return lists.flat();
}

/** By its name, or by its ids if it was renamed. `pane` is the one in which it was started. Pure. */
export function findRun<Pane extends RunPane>(
  name: string,
  panes: readonly Pane[],
  last: SessionRun | undefined,
): { readonly seen: SeenRun; readonly pane: Pane | undefined } {
  const known = panes.filter((pane) => isSameRun(last, pane));
  const named = panes.filter((pane) => (pane.group ?? pane.sessionName) === name);
  // A program that has exited counts only if nothing of that name runs.
  const session = [...known, ...named].toSorted((a, b) => Number(a.dead) - Number(b.dead))[0];
  if (session === undefined) return { seen: { is: 'gone' }, pane: undefined };
  const ofSession = panes.filter((pane) => sessionKey(pane) === sessionKey(session));
  const first = ofSession.toSorted((a, b) => Number(a.paneId.slice(1)) - Number(b.paneId.slice(1)))[0] ?? session;
  const pane = ofSession.find(({ paneId }) => paneId === last?.paneId && isSameRun(last, session)) ?? first;
  const { serverPid, sessionId, createdAt, paneId } = pane;
  const run = { serverPid, sessionId, createdAt, paneId };
  if (pane.dead) return { seen: { is: 'exited', run, status: pane.exitStatus }, pane };
  return { seen: { is: 'alive', run }, pane };
}

/** Only if we have started it as a declared session: tmux keeps other panes because somebody wants to read them. */
export async function removeExited(hosts: HostList, pane: HostPane): Promise<boolean> {
  if (!pane.dead || !isDeclaredStart(pane.started)) return false;
  await removeDeadPane(tmuxOn(hosts.get(pane.host), pane.socket), pane);
  return true;
}

/** It is no longer declared: from now on its pane closes with its program, as in any session. */
export async function stopKeepingPane(
  hosts: HostList,
  host: string,
  run: SessionRun | undefined,
  registry: Registry,
): Promise<void> {
  const pane =
    run && (await panesOfHost(hosts, host, registry)).find((one) => isSameRun(run, one) && one.paneId === run.paneId);
  if (pane === undefined || !isDeclaredStart(pane.started)) return;
  const tmux = tmuxOn(hosts.get(host), pane.socket);
  if (!(await stopKeeping(tmux, { serverPid: pane.serverPid, pane: { id: pane.paneId, pid: pane.panePid } })))
    await removeDeadPane(tmux, pane);
}
