// Finds the panes of hooks also if very many are asked for at once, such as after a flood of reports of panes that are gone: then one
// list per tmux server says which panes exist, and only those are looked up.

import { createConcurrencyLimit } from '../core/concurrency-limit.ts';
import type { Host } from '../hosts/host.ts';
import { currentPane, readTmuxVariable } from './pane.ts';
import { tmuxOn } from './tmux.ts';

export type FindHookPane = typeof currentPane;

/** Processes that look for panes at the same time. */
const AT_ONCE = 4;

export function createHookPanes(): FindHookPane {
  const inTurn = createConcurrencyLimit(AT_ONCE);
  const lists = createPaneLists();
  return async (host, tmuxVariable, paneId) => {
    if (inTurn.isFull() && !(await lists.has(host, tmuxVariable, paneId))) return undefined;
    return inTurn(() => currentPane(host, tmuxVariable, paneId));
  };
}

/** A list begins after the question that it answers; questions that come meanwhile share the next one. */
function createPaneLists() {
  const last = new Map<string, Promise<unknown>>();
  const next = new Map<string, Promise<ReadonlySet<string>>>();

  function nextList(host: Host, socket: string): Promise<ReadonlySet<string>> {
    const key = `${host.name} ${socket}`;
    const known = next.get(key);
    if (known !== undefined) return known;
    const list = (last.get(key) ?? Promise.resolve()).then(() => {
      next.delete(key);
      return panesOf(host, socket);
    });
    const over: Promise<void> = list
      .then(() => {})
      .catch(() => {})
      .finally(() => {
        if (last.get(key) === over) last.delete(key);
      });
    next.set(key, list);
    last.set(key, over);
    return list;
  }

  return {
    async has(host: Host, tmuxVariable: string, paneId: string): Promise<boolean> {
      const server = readTmuxVariable(tmuxVariable);
      return server !== undefined && (await nextList(host, server.socket)).has(`${server.pid} ${paneId}`);
    },
  };
}

/** Empty if there is no such server. */
async function panesOf(host: Host, socket: string): Promise<ReadonlySet<string>> {
  const list = 't list-panes -a -F "#{pid} #{pane_id}" 2> /dev/null || :';
  return new Set((await tmuxOn(host, socket).script(list, [], { doing: 'list the panes' })).split('\n'));
}
