// Which tmux session a letter came from: the pane that ran the hook, on its own server, whoever is attached where. A
// pane that is gone before its last letter is known from the registry.

import { currentPane, readTmuxVariable } from '../tmux/current-pane.ts';
import type { HostList } from '../tmux/host-list.ts';
import type { Registry } from './registry.ts';
import type { SessionPane } from './session-threads.ts';

/** `again` when the pane may run something else than a moment ago. */
export type SessionLookup = (
  host: string,
  tmux: string,
  pane: string,
  again?: boolean,
) => Promise<SessionPane | undefined>;

const FRESH_MS = 10_000;
const KEPT = 1_000;
/** tmux servers per other host: each is asked for its sessions again and again, and a hostile host could name any number. */
const MOST_SERVERS = 16;

export function createSessionLookup(hosts: HostList, registry: Registry): SessionLookup {
  const seen = new Map<string, { readonly at: number; readonly session: SessionPane }>();

  function remembered(host: string, tmux: string, pane: string): SessionPane | undefined {
    const server = readTmuxVariable(tmux);
    const record = server === undefined ? undefined : registry.ofPane(host, server.pid, pane);
    if (record === undefined) return undefined;
    // Only what a session is: the rest of the record may have changed before this is written back.
    const { host: on, socket, serverPid, paneId, panePid, sessionId } = record;
    const { sessionName, group, command, cwd: path } = record;
    return {
      ...{ host: on, socket, serverPid, paneId, panePid, sessionId },
      ...{ sessionName, group, command, path },
    };
  }

  function isOneTooMany(host: string, tmux: string): boolean {
    const live = registry.all().filter((one) => one.host === host && !one.closed && one.shell !== 'terminal');
    const sockets = new Set(live.map(({ socket }) => socket));
    return sockets.size >= MOST_SERVERS && !sockets.has(readTmuxVariable(tmux)?.socket ?? '');
  }

  return async (host, tmux, pane, again = false) => {
    const key = `${host}|${tmux}|${pane}`;
    const known = seen.get(key);
    if (known !== undefined && !again && Date.now() - known.at < FRESH_MS) return known.session;
    const registered = remembered(host, tmux, pane);
    // Asking another host takes a round trip, and renamed sessions are noticed there by tmux's own hooks.
    if (registered !== undefined && !again && !hosts.isLocal(host)) return registered;
    if (!hosts.isLocal(host) && isOneTooMany(host, tmux)) return undefined;
    const found = await currentPane(hosts.get(host), tmux, pane);
    if (found === undefined) return known?.session ?? registered;
    const session = { ...found, host };
    if (seen.size >= KEPT) seen.clear();
    seen.set(key, { at: Date.now(), session });
    return session;
  };
}
