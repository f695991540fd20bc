// Finds the run of a declared session among the panes of its host, on all tmux servers that we know there.

import { type Registry, sessionKey } from '../../threads/registry.ts';
import { isDeclaredStart } from '../../threads/remembered-session.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { createRunPanesReader, listRunPanes, type RunPane, removeDeadPane } from '../../tmux/session-runs.ts';
import { stopKeeping } from '../../tmux/sessions.ts';
import { type Tmux, tmuxOn } from '../../tmux/tmux.ts';
import { isSameRun, runText, type SeenRun, type SessionRun } from './decide-start.ts';

export interface HostPane extends RunPane {
  readonly host: string;
}

/** The panes of a host: those of each session, found by its name and by its run. */
export interface HostRuns {
  find(name: string, last: SessionRun | undefined): ReturnType<typeof findRun<HostPane>>;
}

const TIMEOUT_MS = 10_000;

/** The result rejects if the host cannot be reached. */
export function createRunLooks(hosts: HostList, registry: Registry): (host: string) => Promise<HostRuns> {
  const read = createRunPanesReader();
  const list = (tmux: Tmux) => listRunPanes(tmux, read, { timeoutMs: TIMEOUT_MS });
  return async (host) => {
    const own = await list(hosts.tmux(host));
    const socket = own[0]?.socket;
    const live = registry.all().filter((one) => one.host === host && !one.closed && one.shell !== 'terminal');
    const others = new Set(live.map((one) => one.socket).filter((one) => one !== socket && one !== ''));
    const lists = await Promise.all([...others].map((one) => list(tmuxOn(hosts.get(host), one))));
    return indexRuns([own, ...lists].flat(), host);
  };
}

function indexRuns(listed: readonly RunPane[], host: string): HostRuns {
  const panes = listed.map((pane) => ({ ...pane, host }));
  const byName = grouped(panes, ({ group, sessionName }) => group ?? sessionName);
  const byRun = grouped(panes, runText);
  const bySession = grouped(panes, sessionKey);
  return {
    find(name, last) {
      const known = last === undefined ? [] : (byRun.get(runText(last)) ?? []);
      const sessions = new Set([...known, ...(byName.get(name) ?? [])].map(sessionKey));
      const ofThem = [...sessions].flatMap((key) => bySession.get(key) ?? []);
      return findRun(name, ofThem, last);
    },
  };
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
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
  { name, host }: { readonly name: string; readonly host: string },
  run: SessionRun | undefined,
  runs: HostRuns,
): Promise<void> {
  const { pane } = runs.find(name, run);
  if (pane === undefined || !isSameRun(run, pane) || !isDeclaredStart(pane.started)) return;
  const tmux = tmuxOn(hosts.get(host), pane.socket);
  if (!(await stopKeeping(tmux, { serverPid: pane.serverPid, pane: { id: pane.paneId, pid: pane.panePid } })))
    await removeDeadPane(tmux, pane);
}
