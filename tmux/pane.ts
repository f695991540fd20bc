// Identifies a pane, and defines the conditions that the tmux server checks at the moment a key is pressed in it.
// The conditions are tmux formats; every value is validated before it is put into one.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { createConcurrencyLimit, createNextRun } from '../core/keyed-queue.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { Host } from '../hosts/host.ts';
import { readRow, rowFormat, START_OPTION, tmuxOn } from './tmux.ts';

/** One program's pane: after a restart of the server or the program, it no longer matches. */
export interface PaneRef {
  readonly serverPid: number;
  /** Such as "%5"; a new server uses the same ids again. */
  readonly paneId: string;
  readonly panePid: number;
}

export interface PaneGuard {
  readonly pane: PaneRef;
  /** The name of the foreground program, as recorded when it reported; undefined for any. */
  readonly command: string | undefined;
  /** An extended regular expression; if it matches a line of the screen, a dialog is open. */
  readonly dialog?: string | undefined;
  /** Extended regular expressions; each must match a line of the screen. */
  readonly shows?: readonly string[];
}

export type PaneRefusal =
  | 'gone'
  | 'other-server'
  | 'other-process'
  | 'dead'
  | 'input-off'
  | 'synchronized'
  | 'other-program'
  | 'in-mode'
  | 'dialog'
  | 'not-stashed'
  /** Another text is in the box before ours. */
  | 'mixed'
  /** The box stays as it was, although our text was pasted. */
  | 'unread'
  | 'changing';

export interface Seen {
  readonly serverPid: number;
  readonly panePid: number;
  readonly command: string;
}

export function isPaneId(text: string): boolean {
  return /^%\d+$/.test(text);
}

/** tmux compares ids as text: they must all have the same width. */
export function deliveryId(id: string): string {
  if (!/^\d{1,20}$/.test(id)) throw new ThreadmuxError('bad_usage', `${untrustedCode(id)} is not a delivery id`);
  return id.padStart(20, '0');
}

/** It is still the same pane; the id alone is not enough, because a new server uses the same ids again. */
export function isPaneFormat(pane: PaneRef): string {
  if (!isPaneId(pane.paneId)) throw unfit('pane id', pane.paneId);
  return allOf([
    `#{==:#{pane_id},${pane.paneId}}`,
    `#{==:#{pid},${Math.trunc(pane.serverPid)}}`,
    `#{==:#{pane_pid},${Math.trunc(pane.panePid)}}`,
  ]);
}

/** The right program runs and accepts input; the pane may be in a mode such as copy mode. */
export function sameFormat({ pane, command }: PaneGuard): string {
  if (command !== undefined && !/^[\w.+@-]{1,64}$/.test(command)) throw unfit('program name', command);
  return allOf([
    isPaneFormat(pane),
    '#{==:#{pane_dead},0}',
    '#{==:#{pane_input_off},0}',
    '#{==:#{pane_synchronized},0}', // else keys would go to the other panes of the window as well
    ...(command === undefined ? [] : [`#{==:#{pane_current_command},${command}}`]),
  ]);
}

/** Like `sameFormat`, and keys reach the program itself: no mode, no dialog. */
export function readyFormat(guard: PaneGuard): string {
  return allOf([
    sameFormat(guard),
    '#{==:#{pane_in_mode},0}',
    ...(guard.dialog === undefined ? [] : [`#{==:#{C/r:${patternOf(guard.dialog)}},0}`]),
    ...(guard.shows ?? []).map((line) => `#{!=:#{C/r:${patternOf(line)}},0}`),
  ]);
}

export function allOf(conditions: readonly string[]): string {
  return conditions.reduceRight((rest, condition) => `#{&&:${condition},${rest}}`);
}

/** A pattern is put inside quotes inside braces, so it must not contain a character that ends either. */
export function patternOf(pattern: string): string {
  if (pattern === '' || /['#{},;\p{Cc}]/u.test(pattern)) throw unfit('pattern', pattern);
  return pattern;
}

const VARIABLES = [
  ...(['pane_id', 'pid', 'pane_pid', 'pane_dead', 'pane_input_off', 'pane_synchronized'] as const),
  ...(['pane_in_mode', 'pane_current_command'] as const),
];

/** The format whose output refusalOf reads. */
export function seenFormat(guard: PaneGuard): string {
  const dialog = guard.dialog === undefined ? '0' : `#{C/r:${patternOf(guard.dialog)}}`;
  return `${rowFormat(VARIABLES)}\t${dialog}`;
}

export function refusalOf(guard: PaneGuard, line: string): { because: PaneRefusal; seen: Seen } {
  const row = readRow([...VARIABLES, 'dialog'] as const, line);
  if (row === undefined) throw new ThreadmuxError('tmux_failed', `tmux said of a pane: ${untrustedCode(line)}`);
  const { pane, command } = guard;
  const rules: readonly (readonly [boolean, PaneRefusal])[] = [
    [Number(row.pid) !== pane.serverPid, 'other-server'],
    [row.pane_id !== pane.paneId, 'gone'],
    [row.pane_dead === '1', 'dead'],
    [Number(row.pane_pid) !== pane.panePid, 'other-process'],
    [row.pane_input_off === '1', 'input-off'],
    [row.pane_synchronized === '1', 'synchronized'],
    [command !== undefined && row.pane_current_command !== command, 'other-program'],
    [row.pane_in_mode !== '0', 'in-mode'],
    [row.dialog !== '0', 'dialog'],
  ];
  return {
    because: rules.find(([holds]) => holds)?.[1] ?? 'changing',
    seen: { serverPid: Number(row.pid), panePid: Number(row.pane_pid), command: row.pane_current_command },
  };
}

function unfit(what: string, value: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', `threadmux cannot guard a pane by the ${what} ${untrustedCode(value)}`);
}

// Finds the pane that a hook runs in, from TMUX and TMUX_PANE. If it is not certain, the result is undefined: a wrong
// pane would send one session's replies into another's thread.

export interface CurrentPane extends PaneRef {
  readonly socket: string;
  readonly sessionId: string;
  readonly sessionName: string;
  /** In a group, the session name changes with the newest member; the group's name stays. */
  readonly group: string | undefined;
  readonly command: string;
  readonly path: string;
  /** How threadmux started the session. */
  readonly started?: string | undefined;
}

export const CURRENT_PANE_VARIABLES = [
  ...(['pane_id', 'pid', 'pane_pid', 'session_id', 'session_name', 'session_group'] as const),
  ...(['pane_current_command', 'pane_current_path', START_OPTION] as const),
];

/**
 * `tmuxVariable` is the value of TMUX: socket, server pid and session, separated by commas. Rejects if the host or tmux does not
 * answer: the pane may exist.
 */
export async function currentPane(host: Host, tmuxVariable: string, paneId: string): Promise<CurrentPane | undefined> {
  const server = readTmuxVariable(tmuxVariable);
  if (server === undefined || !isPaneId(paneId)) return undefined;
  const words = ['display-message', '-p', '-t', paneId, rowFormat(CURRENT_PANE_VARIABLES)];
  const printed = await tmuxOn(host, server.socket)
    .script('t "$@" 2> /dev/null || :', words, { doing: 'find the pane of a report' })
    .catch((error: unknown) => {
      const isUnknown = isThreadmuxError(error, 'host_unreachable') || isThreadmuxError(error, 'tmux_failed');
      if (!isUnknown && isThreadmuxError(error)) return '';
      throw error;
    });
  const row = readRow(CURRENT_PANE_VARIABLES, printed.replace(/\n$/, ''));
  // For a missing pane tmux prints empty values, and there may be a new server on the old socket.
  if (row?.pane_id !== paneId || Number(row.pid) !== server.pid) return undefined;
  return toCurrentPane(row, server.socket);
}

export function toCurrentPane(
  row: Readonly<Record<(typeof CURRENT_PANE_VARIABLES)[number], string>>,
  socket: string,
): CurrentPane {
  return {
    socket,
    serverPid: Number(row.pid),
    paneId: row.pane_id,
    panePid: Number(row.pane_pid),
    sessionId: row.session_id,
    sessionName: row.session_name,
    group: row.session_group || undefined,
    command: row.pane_current_command,
    path: row.pane_current_path,
    started: row[START_OPTION] || undefined,
  };
}

/** Each record has the path, and a hostile host could name one of megabytes. No system accepts a longer one. */
export function isSocketPath(path: string): boolean {
  return /^\/[^\n\0]{1,1023}$/.test(path);
}

/** The socket's path may itself contain commas. */
export function readTmuxVariable(value: string): { socket: string; pid: number } | undefined {
  const [, socket, pid] = value.match(/^(\/.*),(\d{1,15}),\d+$/s) ?? [];
  return socket === undefined || !isSocketPath(socket) ? undefined : { socket, pid: Number(pid) };
}

export type FindHookPane = typeof currentPane;

/** Processes that look for panes at the same time. */
const AT_ONCE = 4;

/**
 * Also if very many are asked for at once, such as after a flood of reports of panes that are gone: then one list per tmux server says
 * which panes exist.
 */
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
