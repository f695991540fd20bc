// The log of a terminal on another host. One command returns the state of its pane and what the log has after our copy;
// it also removes the segments there that the copy has completely.

import { ThreadmuxError } from '../../core/errors.ts';
import { snowflakeAt, snowflakeTime } from '../../core/snowflake.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import type { Host } from '../../hosts/host.ts';
import { meansNoTarget } from '../../hosts/host-errors.ts';
import type { PaneRef } from '../../tmux/pane.ts';
import { rowFormat, type Tmux } from '../../tmux/tmux.ts';
import type { LogPosition } from './log.ts';
import { PANE_VARIABLES, type PaneSeen, readPanes, seenOf } from './panes.ts';

export interface RemotePiece {
  readonly segment: number;
  /** Where in the segment the bytes begin: at the requested position or a little before it. */
  readonly from: number;
  readonly bytes: Buffer;
  /** Nothing more will be written to this segment. */
  readonly whole: boolean;
}

export interface RemoteLogState {
  readonly seen: PaneSeen;
  readonly pieces: readonly RemotePiece[];
  /** There is more to read now. */
  readonly more: boolean;
  /** The pipe was closed: if there is no `more`, these pieces complete the log. */
  readonly ended: boolean;
}

const BLOCK = 4096;
/** Per command: a slow connection must transfer it before the timeout. */
const MOST_BLOCKS = 128;
/** More than tmux/pipe.ts ever keeps. */
const MOST_PIECES = 512;
const TIMEOUT_MS = 60_000;
/** A thread this young may belong to a terminal that is being started. */
const YOUNG_MS = 10 * 60_000;

/** Creates an empty folder, and removes the logs of terminals that are no longer known. */
export async function prepareRemoteLog(
  host: Host,
  folder: string,
  thread: string,
  known: readonly string[],
): Promise<void> {
  const before = snowflakeAt(snowflakeTime(thread) - YOUNG_MS);
  await host.sh(PREPARE, [folder, before, ...known], { doing: 'make the folder of a log' });
}

export async function removeRemoteLog(host: Host, folder: string, signal: AbortSignal): Promise<void> {
  await host.sh(REMOVE, [folder], { doing: 'remove the log of a terminal', signal });
}

/** Rejects if the host or its tmux did not answer: that must never count as the end of the program. */
export async function readRemoteLog(
  tmux: Tmux,
  pane: PaneRef,
  folder: string,
  { segment, offset }: LogPosition,
  signal: AbortSignal,
): Promise<RemoteLogState> {
  const position = [String(segment), String(offset), String(MOST_BLOCKS)];
  const said = await tmux.script(LOOK, [pane.paneId, rowFormat(PANE_VARIABLES), folder, ...position], {
    doing: 'read the log of a terminal',
    encoding: 'latin1',
    maxBytes: 4 * BLOCK * MOST_BLOCKS,
    timeoutMs: TIMEOUT_MS,
    signal,
  });
  return readLook(said, pane);
}

/** Pure. Output of a host is untrusted: a line that does not match is an error. */
export function readLook(said: string, pane: PaneRef): RemoteLogState {
  const [first = '', second = ''] = said.split('\n', 2);
  const seen = seenIn(first, pane);
  const [state = '', last = '0'] = second.split(' ');
  const pieces: RemotePiece[] = [];
  let more = false;
  for (let at = first.length + second.length + 2; at < said.length; ) {
    const [line = ''] = said.slice(at, at + 100).split('\n', 1);
    const [, segment, from, size] = line.match(/^segment (\d{1,9}) (\d{1,12}) (\d{1,12}|-)$/) ?? [];
    const before = pieces.at(-1)?.segment ?? 0;
    if (segment === undefined || Number(segment) <= before || pieces.length >= MOST_PIECES) throw unreadable(line);
    at += line.length + 1;
    const whole = size !== '-';
    const end = whole ? at + Number(size) : said.length;
    if (end > said.length) throw unreadable(line);
    const bytes = Buffer.from(said.slice(at, end), 'latin1');
    pieces.push({ segment: Number(segment), from: Number(from), bytes, whole });
    more = Number(segment) < Number(last) || (!whole && bytes.length >= BLOCK * MOST_BLOCKS);
    at = end;
  }
  return { seen, pieces, more, ended: state === 'end' };
}

function seenIn(line: string, pane: PaneRef): PaneSeen {
  if (line.startsWith('pane ')) return seenOf(readPanes(line.slice('pane '.length)), pane);
  if (line.startsWith('none ') && meansNoTarget(line)) return { kind: 'gone' };
  throw unreadable(line);
}

function unreadable(line: string): ThreadmuxError {
  return new ThreadmuxError('tmux_failed', `the log of a terminal could not be read: ${untrustedCode(line, 200)}`);
}

const REMOVE = `case $1 in */streams/[0-9]*/log) rm -rf "\${1%/log}" ;; esac`;

const PREPARE = `umask 077; log=$1; before=$2; shift 2
own=\${log%/log}; all=\${own%/*}
mkdir -p "$all" && cd "$all" || exit 1
for old in [0-9]*; do
  [ -d "$old" ] && [ "$old" -lt "$before" ] || continue
  for known in "$@"; do [ "$old" != "$known" ] || continue 2; done
  rm -rf "$old"
done
rm -rf "$own" && mkdir -p "$log"`;

/**
 * Complete segments are sent with their size, and the last one up to its current end. Each file is opened before its size is
 * read: the cap may remove the file meanwhile, and the announced bytes must follow.
 */
const LOOK = `pane=$1; format=$2; folder=$3; segment=$4; offset=$5; blocks=$6
if row=$(t display-message -p -t "$pane" "$format" 2>&1); then printf 'pane %s\\n' "$row"
else printf 'none %s\\n' "$(printf %s "$row" | tr '\\n' ' ')"; fi
cd "$folder" 2>/dev/null || { echo missing; exit 0; }
state=open; [ ! -e end ] || state=end
set -- $(ls | grep '^[0-9][0-9]*$' | sort -n)
last=0; for n in "$@"; do last=$n; done
echo "$state $last"
while [ $# -gt 0 ]; do
  n=$1; shift
  if [ "$n" -lt "$segment" ]; then rm -f "$n"; continue; fi
  skip=0; [ "$n" -ne "$segment" ] || skip=$((offset / ${BLOCK}))
  {
    if size=$(wc -c <"$n"); then
      size=$((size - skip * ${BLOCK}))
      if [ $# -eq 0 ] || [ $size -gt $((blocks * ${BLOCK})) ]; then
        printf 'segment %s %s -\\n' "$n" $((skip * ${BLOCK}))
        dd bs=${BLOCK} skip=$skip count=$blocks
        exit 0
      fi
      printf 'segment %s %s %s\\n' "$n" $((skip * ${BLOCK})) $size
      dd bs=${BLOCK} skip=$skip
      blocks=$((blocks - size / ${BLOCK} - 1)); [ $blocks -gt 0 ] || exit 0
    fi
  } 2>/dev/null <"$n"
done
exit 0`;
