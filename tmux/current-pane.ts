// Finds the pane that a hook runs in, from TMUX and TMUX_PANE.
// If it is not certain, the result is undefined: a wrong pane would send one session's replies into another's thread.

import { isThreadmuxError } from '../core/errors.ts';
import type { Host } from '../hosts/host.ts';
import { readRow, rowFormat } from './format-row.ts';
import { isPaneId, type PaneRef } from './pane.ts';
import { tmuxOn } from './tmux.ts';

export interface CurrentPane extends PaneRef {
  readonly socket: string;
  readonly sessionId: string;
  readonly sessionName: string;
  /** In a group, the session name changes with the newest member; the group's name stays. */
  readonly group: string | undefined;
  readonly command: string;
  readonly path: string;
}

const VARIABLES = [
  ...(['pane_id', 'pid', 'pane_pid', 'session_id', 'session_name', 'session_group'] as const),
  ...(['pane_current_command', 'pane_current_path'] as const),
];

/** `tmuxVariable` is the value of TMUX: socket, server pid and session, separated by commas. */
export async function currentPane(host: Host, tmuxVariable: string, paneId: string): Promise<CurrentPane | undefined> {
  const server = readTmuxVariable(tmuxVariable);
  if (server === undefined || !isPaneId(paneId)) return undefined;
  const printed = await tmuxOn(host, server.socket)
    .run(['display-message', '-p', '-t', paneId, rowFormat(VARIABLES)])
    .catch((error: unknown) => {
      if (isThreadmuxError(error)) return '';
      throw error;
    });
  const row = readRow(VARIABLES, printed.replace(/\n$/, ''));
  // For a missing pane tmux prints empty values, and there may be a new server on the old socket.
  if (row?.pane_id !== paneId || Number(row.pid) !== server.pid) return undefined;
  return {
    socket: server.socket,
    serverPid: server.pid,
    paneId,
    panePid: Number(row.pane_pid),
    sessionId: row.session_id,
    sessionName: row.session_name,
    group: row.session_group || undefined,
    command: row.pane_current_command,
    path: row.pane_current_path,
  };
}

/** The socket's path may itself contain commas. */
export function readTmuxVariable(value: string): { socket: string; pid: number } | undefined {
  const [, socket, pid] = value.match(/^(\/.*),(\d+),\d+$/s) ?? [];
  return socket === undefined ? undefined : { socket, pid: Number(pid) };
}
