// Finds the panes of hooks also if very many are asked for at once, such as after a flood of reports of panes that are gone: then one
// list per tmux server says which panes exist, and only those are looked up.

import { createConcurrencyLimit, createNextRun } from '../core/keyed-queue.ts';
import type { Host } from '../hosts/host.ts';
import { currentPane, readTmuxVariable } from './pane.ts';
import { tmuxOn } from './tmux.ts';

export type FindHookPane = typeof currentPane;

/** Processes that look for panes at the same time. */
const AT_ONCE = 4;

/** Also if very many are asked for at once, such as after a flood of reports of panes that are gone: then one list per tmux server says which panes exist. */
export function createHookPanes(): FindHookPane {
  const inTurn = createConcurrencyLimit(AT_ONCE);
  const nextList = createNextRun<ReadonlySet<string>>();
  return async (host, tmuxVariable, paneId) => {
    const server = readTmuxVariable(tmuxVariable);
    if (server === undefined) return undefined;
    const { socket, pid } = server;
    const panes = () => nextList(`${host.name} ${socket}`, () => panesOf(host, socket));
    if (inTurn.isFull() && !(await panes()).has(`${pid} ${paneId}`)) return undefined;
    return inTurn(() => currentPane(host, tmuxVariable, paneId));
  };
}

/** Empty if there is no such server. */
async function panesOf(host: Host, socket: string): Promise<ReadonlySet<string>> {
  const list = 't list-panes -a -F "#{pid} #{pane_id}" 2> /dev/null || :';
  return new Set((await tmuxOn(host, socket).script(list, [], { doing: 'list the panes' })).split('\n'));
}
