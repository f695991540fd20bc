// Finds the session that a letter came from, by the pane and tmux server of its hook. If the pane is gone, the registry
// still knows it.

import type { HostList } from '../tmux/host-list.ts';
import { createHookPanes, type FindHookPane, readTmuxVariable } from '../tmux/pane.ts';
import type { Registry } from './registry.ts';
import { paneOfRecord } from './session-pane.ts';
import type { SessionPane } from './session-threads.ts';

/** `again` ignores the cache, because the pane may run another program now. */
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
  /** One per host: a slow host must not hold up the others. */
  const finders = new Map<string, FindHookPane>();
  function finderOf(host: string): FindHookPane {
    const finder = finders.get(host) ?? createHookPanes();
    finders.set(host, finder);
    return finder;
  }

  function remembered(host: string, tmux: string, pane: string): SessionPane | undefined {
    const server = readTmuxVariable(tmux);
    const record = server === undefined ? undefined : registry.ofPane(host, server.pid, pane);
    return record && paneOfRecord(record);
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
    // Asking another host takes a round trip, and its tmux hooks report renamed sessions.
    if (registered !== undefined && !again && !hosts.isLocal(host)) return registered;
    if (!hosts.isLocal(host) && isOneTooMany(host, tmux)) return undefined;
    const before = known?.session ?? registered;
    const found = await finderOf(host)(hosts.get(host), tmux, pane).catch((error: unknown) => {
      if (before === undefined) throw error;
    });
    if (!found) return before;
    const session = { ...found, host };
    if (seen.size >= KEPT) seen.clear();
    seen.set(key, { at: Date.now(), session });
    return session;
  };
}
