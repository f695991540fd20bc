// The panes of a tmux server with what tells a running program from one that has exited, and the removal of a pane whose program has exited.

import { createLastParsed } from '../core/last-parsed.ts';
import type { ShOptions } from '../hosts/host.ts';
import {
  CURRENT_PANE_VARIABLES,
  type CurrentPane,
  isPaneFormat,
  isPaneId,
  type PaneRef,
  toCurrentPane,
} from './pane.ts';
import { readRow, rowFormat, type Tmux, unlessGone } from './tmux.ts';

export interface RunPane extends CurrentPane {
  readonly createdAt: number;
  readonly dead: boolean;
  /** Undefined while it runs, or if a signal ended it. */
  readonly exitStatus: number | undefined;
}

const VARIABLES = [
  ...CURRENT_PANE_VARIABLES,
  ...(['session_created', 'pane_dead', 'pane_dead_status', 'socket_path'] as const),
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
    ...toCurrentPane(row, row.socket_path),
    createdAt: Number(row.session_created) * 1_000,
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
