// The sessions of one tmux server: list, find, start, end, rename.
// A session is addressed by its id and its server's pid; a name must match exactly.

import { isThreadmuxError, ThreadmuxError } from '../core/errors.ts';
import { environmentScript, RUN_FOUND, type Variables } from '../core/session-environment.ts';
import type { SessionName } from '../core/session-name.ts';
import { quoteShellWords } from '../core/shell-word.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ShOptions } from '../hosts/host.ts';
import { isPaneFormat, isPaneId } from './pane.ts';
import { readRow, rowFormat, START_OPTION, type Tmux } from './tmux.ts';

export interface Session {
  /** Such as "$3"; unique until the server restarts. */
  readonly id: string;
  readonly serverPid: number;
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
    readonly title: string;
  };
}

type SessionKey = Pick<Session, 'id' | 'serverPid' | 'name'>;

const VARIABLES = [
  ...(['session_id', 'pid', 'session_name', 'session_group', 'session_created'] as const),
  ...(['session_attached', 'pane_id', 'pane_pid', 'pane_dead'] as const),
  ...(['pane_current_command', 'pane_current_path', 'pane_title', START_OPTION] as const),
];

/** Without a running server the list is empty; rejects if the host cannot be reached. */
export async function listSessions(tmux: Tmux, options: ShOptions = {}): Promise<Session[]> {
  const printed = await tmux
    .run(['list-sessions', '-F', rowFormat(VARIABLES)], { doing: 'list the sessions', ...options })
    .catch((error: unknown) => {
      if (isThreadmuxError(error, 'session_not_found')) return '';
      throw error;
    });
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
  /** Keep the dead pane when its program has ended, so that its last output can be read. */
  readonly remainOnExit?: boolean;
  /** Variables for the command, only on this machine. Their values may be secrets. */
  readonly environment?: Variables;
  /** What the session's option tells about its start. */
  readonly started?: string;
  readonly size?: { readonly width: number; readonly height: number };
}

/** `created` is false if the session existed already. */
export async function newSession(
  tmux: Tmux,
  wanted: NewSession,
): Promise<{ readonly session: Session; readonly created: boolean }> {
  const { name, directory = '~', command = [], environment = {}, started = '' } = wanted;
  const variables = command.length === 0 ? '' : environmentScript(environment);
  if (!/^(~$|~\/|\/)/.test(directory) || directory.includes('\0'))
    throw new ThreadmuxError('bad_usage', `${JSON.stringify(directory)} is not a directory to start in`, {
      hint: 'Give an absolute path, or one that begins with "~/".',
    });
  const { width, height } = wanted.size ?? { width: 200, height: 50 };
  const printed = await tmux.script(
    NEW_SESSION,
    [
      ...[name, directory, String(width), String(height), wanted.remainOnExit === true ? 'on' : ''],
      ...[started, variables === '' ? '' : 'yes'],
      ...(command.length === 0 ? [] : [`exec ${quoteShellWords(variables === '' ? command : withVariables(command))}`]),
    ],
    { doing: `start session ${name}`, input: variables },
  );
  const session = (await listSessions(tmux)).find((one) => one.name === name);
  if (session === undefined)
    throw new ThreadmuxError('tmux_failed', `session ${name} ended right after its start on ${tmux.host.name}`, {
      hint: 'Its command may not exist there; try the same command in a shell on that host.',
    });
  return { session, created: printed.includes('created') };
}

export async function killSession(tmux: Tmux, session: SessionKey): Promise<void> {
  await onSession(tmux, session, 'end', `kill-session -t '${idOf(session)}'`);
}

/** Turns remain-on-exit off, once the program runs. False if it has exited: then its pane is still there. */
export async function stopKeeping(
  tmux: Tmux,
  { serverPid, pane }: { readonly serverPid: number; readonly pane: Pick<Session['pane'], 'id' | 'pid'> },
): Promise<boolean> {
  if (!isPaneId(pane.id)) throw new RangeError(`not a pane id: ${pane.id}`);
  const is = isPaneFormat({ serverPid, paneId: pane.id, panePid: pane.pid });
  const off = `set-option -p -u -t '${pane.id}' remain-on-exit ; display-message -p done`;
  const alive = `#{&&:${is},#{==:#{pane_dead},0}}`;
  return (await tmux.run(['if-shell', '-F', '-t', pane.id, alive, off, 'display-message -p dead'])).includes('done');
}

/**
 * Runs after the start-up files of the login shell, so that our variables win. The file is passed by its name, because bash
 * closes descriptors when it starts as an interactive login shell.
 */
const RUN_WITH = `{ eval "$(cat "$tmx_file")"; rm -f "$tmx_file"; } 2>/dev/null; unset tmx_file; ${RUN_FOUND}`;

function withVariables(command: readonly string[]): readonly string[] {
  return ['sh', '-c', RUN_WITH, 'sh', ...command];
}

/**
 * Uses cd instead of -c, because tmux would run a "#(…)" in the argument of -c. The command runs in the user's login shell,
 * which has the user's PATH; `exec` leaves only the program in the pane. -E keeps tmux from replacing variables such as
 * SSH_AUTH_SOCK with those of our minimal environment.
 * The variables come on stdin, because everybody can read command lines. They are in a file that only we can read, until the
 * pane has opened it; the program reads them from there.
 */
const NEW_SESSION = `name=$1; dir=$2; width=$3; height=$4; remain=$5; started=$6; file=$7; shift 7
t has-session -t "=$name" 2>/dev/null && { echo existed; exit 0; }
case $dir in '~') dir=$HOME;; '~/'*) dir=$HOME/\${dir#'~/'};; esac
unset CDPATH; cd "$dir" || exit 1
if [ -n "$file" ]; then
  file=$(mktemp "\${TMPDIR:-/tmp}/threadmux.XXXXXXXX") || exit 1
  cat > "$file" || { rm -f "$file"; exit 1; }
fi
[ $# -eq 0 ] || set -- sh -c 'export tmx_file="$2"; exec "$SHELL" -l -i -c "$1"' sh "$1" "$file"
new() { t new-session -dE -s "$name" -x "$width" -y "$height" "$@" 2>&1; }
set -- "$@" \\; set-option -t "=$name:" ${START_OPTION} "$started"
[ -z "$remain" ] || set -- "$@" \\; set-option -p -t "=$name:" remain-on-exit on
said=$(new "$@") || {
  [ -z "$file" ] || rm -f "$file"
  case $said in *'duplicate session'*) echo existed; exit 0;; esac; echo "$said" >&2; exit 1; }
n=0; while [ -n "$file" ] && [ -e "$file" ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
[ -z "$file" ] || rm -f "$file"
echo created`;

/** Checks and acts inside the server in one command: after a restart, the same id is another session. */
async function onSession(tmux: Tmux, session: SessionKey, verb: string, command: string): Promise<void> {
  const id = idOf(session);
  const same = `#{&&:#{==:#{pid},${session.serverPid}},#{==:#{session_id},${id}}}`;
  const done = await tmux.run(
    ['if-shell', '-F', '-t', `${id}:`, same, `display-message -p done ; ${command}`, 'display-message -p gone'],
    { doing: `${verb} session ${untrustedCode(session.name)}` },
  );
  if (!done.includes('done'))
    throw new ThreadmuxError(
      'session_not_found',
      `threadmux could not ${verb} session ${untrustedCode(session.name)} on ${tmux.host.name}: it no longer exists`,
      { hint: 'Run `threadmux sessions` to see all sessions.' },
    );
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
      path: row.pane_current_path,
      title: row.pane_title,
    },
  };
}
