// Starts a program and writes all of its output to a log. Session, options and pipe are one command list, so that the pipe
// exists before tmux reads the first byte of the program.

import { ThreadmuxError } from '../core/errors.ts';
import type { SessionName } from '../core/session-name.ts';
import { quoteShellWords } from '../core/shell-word.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { isPaneFormat, type PaneRef } from './pane.ts';
import { killSession, listSessions } from './sessions.ts';
import { readRow, rowFormat, type Tmux } from './tmux.ts';

interface Piped {
  readonly name: SessionName;
  /** Absolute. */
  readonly directory: string;
  /** One command line, passed to the user's shell unchanged. */
  readonly command: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly log: PipeLog;
  /** The absolute path of a script to run when the program has ended. */
  readonly atEnd?: string;
}

interface PipeLog {
  /** The absolute path of an existing folder. */
  readonly folder: string;
  /** A segment is full after this many reads of at most 4096 bytes. */
  readonly readsPerSegment: number;
  /** The oldest segments are removed when all of them together are larger. */
  readonly maxBytes: number;
}

interface PipedPane extends PaneRef {
  readonly sessionId: string;
  readonly socket: string;
}

const VARIABLES = ['socket_path', 'pid', 'session_id', 'pane_id', 'pane_pid'] as const;

/** Rejects with `session_exists` if the name is taken. The pane stays when the program ends, and keeps its size. */
export async function startPiped(tmux: Tmux, wanted: Piped): Promise<PipedPane> {
  const { name, directory, command, size } = wanted;
  if (!directory.startsWith('/') || `${directory}${command}`.includes('\0'))
    throw new ThreadmuxError('bad_usage', `threadmux cannot start ${untrustedCode(command)}`, {
      hint: 'Give a command line and an absolute directory.',
    });
  const printed = await tmux.script(
    START,
    [
      ...[name, directory, String(size.width), String(size.height)],
      ...[pipeCommand(wanted.log), rowFormat(VARIABLES), RUN, command.replace(/;$/, '\\;'), wanted.atEnd ?? ''],
    ],
    { doing: `start session ${name}` },
  );
  const row = readRow(VARIABLES, printed.trimEnd());
  if (row === undefined)
    throw new ThreadmuxError('tmux_failed', `tmux said of a new session: ${untrustedCode(printed)}`);
  return {
    socket: row.socket_path,
    serverPid: Number(row.pid),
    sessionId: row.session_id,
    paneId: row.pane_id,
    panePid: Number(row.pane_pid),
  };
}

/** Stops writing the log; the program keeps running. Another pane that now has the same id keeps its pipe. */
export async function closePipe(tmux: Tmux, pane: PaneRef): Promise<void> {
  const { paneId } = pane;
  const close = `pipe-pane -t ${paneId}`;
  await tmux.run(['if-shell', '-F', '-t', paneId, isPaneFormat(pane), close], {
    doing: 'stop writing the log of a terminal',
  });
}

/** Kills the session of this name only if its output is piped: another session may have the name by now. */
export async function killPipedSession(tmux: Tmux, name: string): Promise<void> {
  const session = (await listSessions(tmux)).find((one) => one.name === name);
  if (session === undefined) return;
  const { serverPid, pane } = session;
  const same = isPaneFormat({ serverPid, paneId: pane.id, panePid: pane.pid });
  const piped = `#{&&:${same},#{pane_pipe}}`;
  const said = await tmux.run(['display-message', '-p', '-t', pane.id, piped]);
  if (said.trim() === '1') await killSession(tmux, session);
}

/**
 * tmux can miss the last output of a program that exits, so the shell keeps the pane open for another 100 ms. Ctrl-C is
 * meant for the program only and does not end the shell.
 */
const RUN = `trap : INT QUIT
"$SHELL" -l -i -c "$1"
s=$?; sleep 0.1 2>/dev/null || sleep 1
[ -z "$2" ] || { trap '' HUP; sh "$2" program-ended >/dev/null 2>&1 </dev/null & }
exit "$s"`;

/** Uses cd instead of -c, because tmux would run a "#(…)" in the argument of -c; see sessions.ts. */
const START = `name=$1; dir=$2; width=$3; height=$4; pipe=$5; format=$6; run=$7; command=$8; at_end=$9
unset CDPATH; cd "$dir" || exit 1
t new-session -dE -P -F "$format" -s "$name" -x "$width" -y "$height" sh -c "$run" sh "$command" "$at_end" \\; \\
  set-option -p -t "=$name:" remain-on-exit on \\; set-option -w -t "=$name:" window-size manual \\; \\
  pipe-pane -O -t "=$name:" "$pipe"`;

const SEGMENTS_KEPT = 256;

/**
 * Writes segments "1", "2" and so on, then an empty file "end". dd reads no more than it writes, and writes each read at once.
 * A segment that its reader has removed no longer counts towards the limit. If a segment cannot be written completely, its
 * bytes stay and the next number is left out, so the reader knows that output is missing. The extra read after a failure waits
 * for more output or the end, because a dd that cannot open its file does not notice the end.
 */
const WRITE = `umask 077; cd "$1" || exit 1
n=1; first=1; total=0
while :; do
  step=1
  if dd of="$n" bs=4096 count="$2" 2>/dev/null; then
    [ -s "$n" ] || break
  else
    [ -d "$1" ] || exit 1
    if [ -s "$n" ]; then step=2; else rm -f "$n"; fi
    case $(LC_ALL=C dd of=/dev/null bs=65536 count=1 2>&1) in 0+0*) : >"$((n + step))"; break ;; esac
  fi
  [ -e "$n" ] && eval "s$n=$(($(wc -c <"$n")))"; total=$((total + s$n)); n=$((n + step))
  while [ "$first" -lt "$n" ]; do
    [ -e "$first" ] && [ "$total" -le "$3" ] && [ $((n - first)) -le ${SEGMENTS_KEPT} ] && break
    rm -f "$first"; total=$((total - s$first)); unset "s$first"; first=$((first + 1))
  done
done
[ -s "$n" ] || rm -f "$n"
: >end`;

/** tmux expands "%" and "#" before the shell sees them. Everything is in single quotes, so '' can separate "#" from a following "[". */
function pipeCommand({ folder, readsPerSegment, maxBytes }: PipeLog): string {
  const words = ['sh', '-c', WRITE, 'sh', folder, String(readsPerSegment), String(maxBytes)];
  return `exec ${quoteShellWords(words)}`.replaceAll('%', '%%').replaceAll('#', "##''");
}
