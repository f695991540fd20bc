// Runs one headless agent on another host, under the same supervisor, through one ssh command that is kept open. When that
// connection ends or falls silent, every process that the agent started there ends. Two turns of a thread never run at once.

import type { Host } from '../../hosts/host.ts';
import { readPaced } from '../../hosts/process.ts';
import {
  type AgentCommand,
  type AgentExit,
  type AgentProcess,
  createLineReader,
  LAST_ERRORS,
  lineOf,
  newMark,
  SUPERVISOR,
  withoutNoise,
} from './process.ts';

export interface AgentHost {
  readonly host: Host;
  /** Our home there. */
  readonly home: string;
}

interface RemoteAgent extends Pick<AgentCommand, 'command' | 'dir' | 'onLine'>, AgentHost {
  readonly thread: string;
  /** Its hooks ask in the thread. */
  readonly asks: boolean;
  readonly beatMs?: number;
  /** How long it may run there without a beat. */
  readonly silentSeconds?: number;
}

const BEAT_MS = 5_000;
const SILENT_SECONDS = 60;
/** Of one turn: a host must not keep us busy for ever. */
const MOST_BYTES = 2 ** 30;
/** Longer than the supervisor needs to end everything. */
const LAST_WORDS_MS = 15_000;

export function startRemoteAgentProcess(agent: RemoteAgent): AgentProcess {
  const mark = newMark();
  const looks = String((agent.silentSeconds ?? SILENT_SECONDS) / 2);
  const args = [mark, agent.dir, agent.home, agent.thread, SUPERVISOR, lineOf(agent), looks, agent.asks ? 'on' : ''];
  const script = agent.host.start(RUN_AGENT, args);
  const { stdin, stdout } = script;
  let part: 'output' | 'errors' = 'output';
  let status: number | undefined;
  let said = '';
  const lines = createLineReader((line) => {
    if (line === `${mark} errors`) part = 'errors';
    else if (line.startsWith(`${mark} `)) {
      status = Number.parseInt(line.slice(mark.length), 10);
      stdin.end();
    } else if (part === 'output') agent.onLine(line);
    else said = `${said}${line}\n`.slice(-LAST_ERRORS);
  });
  let bytes = 0;
  readPaced(stdout, (chunk) => {
    bytes += chunk.length;
    if (bytes <= MOST_BYTES) lines.add(chunk);
    else script.stop();
  });
  const beat = setInterval(() => stdin.write('beat\n'), agent.beatMs ?? BEAT_MS);
  const read = new Promise<void>((resolve) => void stdout.once('close', resolve).once('end', resolve));
  const ended = script.ended.then(async (because): Promise<AgentExit> => {
    clearInterval(beat);
    await read;
    lines.end();
    const stderr = withoutNoise(said);
    return status === undefined ? { status, stderr, lost: because } : { status, stderr };
  });
  return {
    ended,
    /** Whole lines. */
    write: (text) => void stdin.write(`>${text.replace(/\n$/, '').replaceAll('\n', '\n>')}\n`),
    endInput: () => void stdin.write('.\n'),
    async end() {
      stdin.end();
      const late = setTimeout(script.stop, LAST_WORDS_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/**
 * Lines on its input: ">" and a line for the agent, "." ends the agent's input, "beat" every few seconds. It prints the output of the
 * agent, then its errors and its exit status, each after the mark, and ends when its own input does.
 * A turn has a file as long as it may run. If that is removed, by the next turn of the thread, or if there is no beat for too long, the turn is ended;
 * the next turn waits until the second file, with its errors, is removed, too.
 */
const RUN_AGENT = `mark=$1; dir=$2; home=$3; thread=$4; supervisor=$5; line=$6; looks=$7; asks=$8
umask 077
all=$home/turn.$thread.; life=$all$mark
for old in "$all"*; do case $old in *.errors) ;; *) rm -f "$old" ;; esac; done
n=0
for old in "$all"*.errors; do
  while [ -e "$old" ] && [ $n -lt 20 ]; do n=$((n + 1)); sleep 1; done
  rm -f "$old"
done
mkfifo "$life" || exit 1
: > "$life.errors"
pass() {
  me=$(exec sh -c 'echo $PPID')
  (
    late=0
    trap 'late=0' USR1
    while sleep 2; kill -0 "$me"; do
      late=$((late + 1))
      [ -e "$life" ] && [ $late -lt "$looks" ] || { kill "$me"; exit; }
    done
  ) < /dev/null > /dev/null 2>&1 &
  dog=$!
  exec 3> "$life"
  trap '' PIPE # the agent may have ended
  while IFS= read -r text; do
    case $text in
      '>'*) printf '%s\\n' "\${text#>}" ;;
      .) exec > /dev/null ;;
      *) kill -s USR1 $dog ;;
    esac
  done 2> /dev/null
}
pass | {
  [ -z "$asks" ] || { THREADMUX_THREAD=$thread; export THREADMUX_THREAD; }
  THREADMUX_HOME=$home sh -c "$supervisor" sh "$mark" "$dir" "\${SHELL:-/bin/sh}" "$line" 3< "$life" 2> "$life.errors"
  status=$?
  trap '' PIPE # the connection may be lost; the files must go
  printf '\\n%s errors\\n' "$mark"
  tail -c ${LAST_ERRORS} "$life.errors"
  printf '\\n%s %s\\n' "$mark" $status
  rm -f "$life" "$life.errors"
}`;
