// The sessions of one tmux server: list, find, start, end, rename.
// A session is addressed by its id and its server's pid; a name must match exactly.

import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { ThreadmuxError } from '../core/errors.ts';
import { environmentScript, RUN_FOUND, type Variables } from '../core/session-environment.ts';
import type { SessionName } from '../core/session-name.ts';
import { quoteShellWords } from '../core/shell-word.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ShOptions } from '../hosts/host.ts';
import { isPaneFormat, isPaneId } from './pane.ts';
import { readRow, rowFormat, START_OPTION, type Tmux, unlessGone } from './tmux.ts';

export interface Session {
  /** Such as "$3"; unique until the server restarts. */
  readonly id: string;
  readonly serverPid: number;
  /** The socket of its server. */
  readonly socket: string;
  /** As tmux reports it: any characters except ":", "." and control characters. */
  readonly name: string;
  readonly group: string | undefined;
  readonly createdAt: number;
  readonly attached: number;
  /** How threadmux started it. */
  readonly started?: string | undefined;
  /** The active pane of the current window. */
  readonly pane: {
    readonly id: string;
    readonly pid: number;
    readonly dead: boolean;
    readonly command: string;
    readonly path: string;
  };
}

type SessionKey = Pick<Session, 'id' | 'serverPid' | 'name'>;

const VARIABLES = [
  ...(['session_id', 'pid', 'session_name', 'session_group', 'session_created'] as const),
  ...(['session_attached', 'pane_id', 'pane_pid', 'pane_dead'] as const),
  ...(['pane_current_command', 'pane_current_path', 'session_path', START_OPTION] as const),
  'socket_path' as const,
];

/** Without a running server the list is empty; rejects if the host cannot be reached. */
export async function listSessions(tmux: Tmux, options: ShOptions = {}): Promise<Session[]> {
  const printed = await tmux
    .run(['list-sessions', '-F', rowFormat(VARIABLES)], { doing: 'list the sessions', ...options })
    .catch(unlessGone(''));
  const lines = printed.split('\n', MOST_SESSIONS + 2);
  if (lines.length > MOST_SESSIONS + 1)
    throw new ThreadmuxError('tmux_failed', `tmux on ${tmux.host.name} lists more than ${MOST_SESSIONS} sessions`, {
      hint: 'threadmux ignores the whole list. End sessions that you no longer need.',
    });
  return lines.flatMap((line) => toSession(line) ?? []);
}

const MOST_SESSIONS = 1_000;

interface NewSession {
  readonly name: SessionName;
  /** An absolute path, "~", or a path below "~/". */
  readonly directory?: string;
  /** A program and its arguments; without it the session runs a shell. */
  readonly command?: readonly string[];
  /** Keep the dead pane when its program has ended, so that its last output can be read; 'at start': until `stopKeeping`. */
  readonly remainOnExit?: boolean | 'at start';
  /**
   * Variables for the command, only on this machine. Their values may be secrets. The shell runs the file that holds them, so nobody
   * else may be able to create a file in `folder`, not even after ours was removed.
   */
  readonly environment?: { readonly variables: Variables; readonly folder: string; readonly program?: string };
  /** What the session's option tells about its start. */
  readonly started?: string;
  /** The command waits until this file has the line "state ready" or is gone, at most 15 minutes. */
  readonly startsAfter?: string | undefined;
  readonly size?: { readonly width: number; readonly height: number };
}

/** `created` is false if the session existed already. */
export async function newSession(
  tmux: Tmux,
  wanted: NewSession,
): Promise<{ readonly session: Session; readonly created: boolean }> {
  const { name, directory = '~', command = [], environment, started = '' } = wanted;
  const variables = command.length === 0 ? '' : environmentScript(environment?.variables ?? {}, environment?.program);
  const file = resolve(environment?.folder ?? '', `.${randomBytes(9).toString('base64url')}.tmp`);
  if (!/^(~$|~\/|\/)/.test(directory) || directory.includes('\0'))
    throw new ThreadmuxError('bad_usage', `${untrustedCode(directory)} is not a directory to start in`, {
      hint: 'Give an absolute path, or one that begins with "~/".',
    });
  const { width, height } = wanted.size ?? { width: 200, height: 50 };
  const printed = await tmux.script(
    NEW_SESSION,
    [
      ...[name, directory, String(width), String(height), wanted.remainOnExit ? 'on' : ''],
      ...[wanted.remainOnExit === 'at start' ? 'on' : '', started, variables === '' ? '' : file, rowFormat(VARIABLES)],
      ...(command.length === 0
        ? []
        : [`exec ${quoteShellWords(wrapped(command, variables !== '', wanted.startsAfter))}`]),
    ],
    { doing: `start session ${name}`, input: variables },
  );
  const [said, row = ''] = printed.split('\n');
  const session = toSession(row);
  if (session === undefined)
    throw new ThreadmuxError('tmux_failed', `session ${name} ended right after its start on ${tmux.host.name}`, {
      hint: 'Its command may not exist there; try the same command in a shell on that host.',
    });
  return { session, created: said === 'created' };
}

export async function killSession(tmux: Tmux, session: SessionKey): Promise<void> {
  const printed = await onSession(tmux, session, 'end', `kill-session -t '${idOf(session)}'`, LIVING_PROGRAMS);
  const pids = printed.split(/\s+/).filter((word) => Number(word) > 1);
  await tmux.script(HANG_UP_AGAIN, pids, { doing: 'end its programs' }).catch(() => {}); // most have ended
}

/** Not of a pane that was kept: the number of a program that has exited may belong to another one by now. */
export const LIVING_PROGRAMS = '#{W:#{P:#{?pane_dead,,#{pane_pid}} }}';

/** Gemini CLI ends only when it is told twice that its terminal is gone. A session of a group shares its panes. The time of the start tells that it is the same program. */
const HANG_UP_AGAIN = `start() { ps -o lstart= -p "$1"; }
for pid; do
  {
    was=$(start "$pid"); sleep 1
    t list-panes -a -F '#{pane_pid}' | grep -qx "$pid" || [ -z "$was" ] || [ "$was" != "$(start "$pid")" ] || kill -HUP "-$pid"
  } > /dev/null 2>&1 &
done`;

/** Turns remain-on-exit off, once the program runs. False if it has exited: then its pane is still there. */
export async function stopKeeping(
  tmux: Tmux,
  { serverPid, pane }: { readonly serverPid: number; readonly pane: Pick<Session['pane'], 'id' | 'pid'> },
): Promise<boolean> {
  if (!isPaneId(pane.id)) throw new RangeError(`not a pane id: ${pane.id}`);
  const is = isPaneFormat({ serverPid, paneId: pane.id, panePid: pane.pid });
  const unset = (option: string) => `set-option -p -u -t '${pane.id}' ${option}`;
  const off = `${unset('remain-on-exit')} ; ${unset(STARTS_OPTION)} ; display-message -p done`;
  const alive = `#{&&:${is},#{==:#{pane_dead},0}}`;
  return (await tmux.run(['if-shell', '-F', '-t', pane.id, alive, off, 'display-message -p dead'])).includes('done');
}

/** A pane that is kept only until its program runs. */
const STARTS_OPTION = '@threadmux_starts';

/** What `stopKeeping` would have done, if the process that started a session had not been killed. Not for those that start now. */
export async function stopKeepingAll(tmux: Tmux, olderThanMs: number, options: ShOptions): Promise<void> {
  const format = `#{${STARTS_OPTION}} #{pane_id} #{pane_dead} #{session_created}`;
  await tmux.script(STOP_KEEPING, [format, STARTS_OPTION, String(Math.ceil(olderThanMs / 1_000))], options);
}

const STOP_KEEPING = `until=$(($(date +%s) - $3))
t list-panes -a -F "$1" 2>/dev/null | while read -r starts pane dead created; do
  [ "$starts" = on ] && [ "$created" -le $until ] || continue
  t set-option -p -u -t "$pane" remain-on-exit \\; set-option -p -u -t "$pane" "$2"
  [ "$dead" = 0 ] || t kill-pane -t "$pane"
done`;

/**
 * Runs after the start-up files of the login shell, so that our variables win. The file is passed by its name, because bash
 * closes descriptors when it starts as an interactive login shell.
 */
const READ_VARIABLES = '{ eval "$(cat "$tmx_file")"; rm -f "$tmx_file"; } 2>/dev/null; unset tmx_file; ';

const WAIT_FOR_FILE = `n=0; echo 'threadmux prepares the worktree …'
while [ -e "$1" ] && ! grep -q '^state ready$' "$1" && [ $n -lt 1800 ]; do sleep 0.5 2>/dev/null || sleep 1; n=$((n + 1)); done; shift; clear 2>/dev/null
`;

function wrapped(command: readonly string[], hasVariables: boolean, file: string | undefined): readonly string[] {
  if (!hasVariables && file === undefined) return command;
  const script = `${hasVariables ? READ_VARIABLES : ''}${file === undefined ? '' : WAIT_FOR_FILE}${RUN_FOUND}`;
  return ['sh', '-c', script, 'sh', ...(file === undefined ? [] : [file]), ...command];
}

/**
 * Uses cd instead of -c, because tmux would run a "#(…)" in the argument of -c. The command runs in the user's login shell,
 * which has the user's PATH; `exec` leaves only the program in the pane. -E keeps tmux from replacing variables such as
 * SSH_AUTH_SOCK with those of our minimal environment.
 * The variables come on stdin, because everybody can read command lines. They are in a file in a folder that only we can
 * enter, until the pane has read it. In a shared folder, another user could take the name of the removed file, and a slow or restarted
 * shell would run what they wrote.
 */
const NEW_SESSION = `name=$1; dir=$2; width=$3; height=$4; remain=$5; starts=$6; started=$7; file=$8; format=$9; shift 9
tell() { echo "$1"; t display-message -p -t "=$name:" "$format" 2>/dev/null; exit 0; }
t has-session -t "=$name" 2>/dev/null && tell existed
case $dir in '~') dir=$HOME;; '~/'*) dir=$HOME/\${dir#'~/'};; esac
unset CDPATH; cd "$dir" || exit 1
if [ -n "$file" ]; then
  (umask 077; cat > "$file") || { rm -f "$file"; exit 1; }
fi
[ $# -eq 0 ] || set -- sh -c 'export tmx_file="$2"; exec "$SHELL" -l -i -c "$1"' sh "$1" "$file"
new() { t new-session -dE -s "$name" -x "$width" -y "$height" "$@" 2>&1; }
set -- "$@" \\; set-option -t "=$name:" ${START_OPTION} "$started"
[ -z "$remain" ] || set -- "$@" \\; set-option -p -t "=$name:" remain-on-exit on
[ -z "$starts" ] || set -- "$@" \\; set-option -p -t "=$name:" ${STARTS_OPTION} on
said=$(new "$@") || {
  [ -z "$file" ] || rm -f "$file"
  case $said in *'duplicate session'*) tell existed;; esac; echo "$said" >&2; exit 1; }
n=0; while [ -n "$file" ] && [ -e "$file" ] && [ $n -lt 100 ]; do sleep 0.1 2>/dev/null || sleep 1; n=$((n + 1)); done
[ -z "$file" ] || rm -f "$file"
tell created`;

/** Checks and acts inside the server in one command: after a restart, the same id is another session. Returns what `format` was before. */
async function onSession(tmux: Tmux, session: SessionKey, verb: string, command: string, format = ''): Promise<string> {
  const id = idOf(session);
  const same = `#{&&:#{==:#{pid},${session.serverPid}},#{==:#{session_id},${id}}}`;
  const act = `display-message -p -t '${id}:' 'done ${format}' ; ${command}`;
  const done = await tmux.run(['if-shell', '-F', '-t', `${id}:`, same, act, 'display-message -p gone'], {
    doing: `${verb} session ${untrustedCode(session.name)}`,
  });
  if (!done.includes('done'))
    throw new ThreadmuxError(
      'session_not_found',
      `threadmux could not ${verb} session ${untrustedCode(session.name)} on ${tmux.host.name}: it no longer exists`,
      { hint: 'Run `threadmux sessions` to see all sessions.' },
    );
  return done;
}

function idOf({ id }: SessionKey): string {
  if (!/^\$\d+$/.test(id)) throw new RangeError(`not a session id: ${id}`);
  return id;
}

function toSession(line: string): Session | undefined {
  const row = readRow(VARIABLES, line);
  if (row === undefined) return undefined;
  return {
    id: row.session_id,
    serverPid: Number(row.pid),
    socket: row.socket_path,
    name: row.session_name,
    group: row.session_group || undefined,
    createdAt: Number(row.session_created) * 1000,
    attached: Number(row.session_attached),
    started: row[START_OPTION] || undefined,
    pane: {
      id: row.pane_id,
      pid: Number(row.pane_pid),
      dead: row.pane_dead === '1',
      command: row.pane_current_command,
      path: row.pane_current_path || row.session_path, // a program that has exited has no directory
    },
  };
}
