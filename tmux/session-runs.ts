// The panes of a tmux server with what tells a running program from one that has exited, and the removal of a pane whose program has exited.

import { createLastParsed } from '../core/last-parsed.ts';
import type { ShOptions } from '../hosts/host.ts';
import { isPaneFormat, isPaneId, type PaneRef } from './pane.ts';
import { readRow, rowFormat, START_OPTION, type Tmux, unlessGone } from './tmux.ts';

export interface RunPane extends PaneRef {
  /** The socket of its server. */
  readonly socket: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly group: string | undefined;
  readonly createdAt: number;
  /** How threadmux started the session. */
  readonly started: string | undefined;
  readonly command: string;
  readonly path: string;
  readonly dead: boolean;
  /** Undefined while it runs, or if a signal ended it. */
  readonly exitStatus: number | undefined;
}

const VARIABLES = [
  ...(['pane_id', 'pid', 'pane_pid', 'session_id', 'session_name', 'session_group', 'session_created'] as const),
  ...(['pane_dead', 'pane_dead_status', 'pane_current_command', 'pane_current_path', START_OPTION] as const),
  'socket_path' as const,
];

type ReadRunPanes = (socket: string, printed: string) => readonly RunPane[];

/** Remembers the last list of each server. */
export function createRunPanesReader(): ReadRunPanes {
  return createLastParsed((printed) => printed.split('\n').flatMap((line) => toRunPane(line) ?? []));
}

/** Without a running server the list is empty; rejects if the host cannot be reached. */
export async function listRunPanes(tmux: Tmux, read: ReadRunPanes, options: ShOptions): Promise<readonly RunPane[]> {
  const list = async () => read(`${tmux.host.name} ${tmux.socket}`, await printed(tmux, options));
  const panes = await list();
  if (panes.every(({ dead, exitStatus }) => !dead || exitStatus !== undefined)) return panes;
  // tmux 3.3 sometimes learns the exit status of a program only when another child process exits.
  await tmux.run(['run-shell', 'true'], options);
  return list();
}

function printed(tmux: Tmux, options: ShOptions): Promise<string> {
  return tmux
    .run(['list-panes', '-a', '-F', rowFormat(VARIABLES)], { doing: 'list the panes', ...options })
    .catch(unlessGone(''));
}

function toRunPane(line: string): RunPane | undefined {
  const row = readRow(VARIABLES, line);
  if (row === undefined) return undefined;
  return {
    paneId: row.pane_id,
    serverPid: Number(row.pid),
    panePid: Number(row.pane_pid),
    sessionId: row.session_id,
    sessionName: row.session_name,
    group: row.session_group || undefined,
    socket: row.socket_path,
    createdAt: Number(row.session_created) * 1_000,
    started: row[START_OPTION] || undefined,
    command: row.pane_current_command,
    path: row.pane_current_path,
    dead: row.pane_dead === '1',
    exitStatus: row.pane_dead_status === '' ? undefined : Number(row.pane_dead_status),
  };
}

/** Only if its program has exited. Its session ends with its last pane. */
export async function removeDeadPane(tmux: Tmux, pane: PaneRef): Promise<void> {
  if (!isPaneId(pane.paneId)) return;
  const isIt = `#{&&:${isPaneFormat(pane)},#{==:#{pane_dead},1}}`;
  await tmux
    .run(['if-shell', '-F', '-t', pane.paneId, isIt, `kill-pane -t '${pane.paneId}'`], { doing: 'close a pane' })
    .catch(unlessGone(undefined));
}
