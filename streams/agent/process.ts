// Runs one headless agent under a small supervisor process that is connected to us by a pipe. When the pipe closes, because we
// closed it or were killed, the supervisor ends every process that the agent started: no process is left behind.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { COMMON_VARIABLES, RUN_FOUND, sessionEnvironment } from '../../core/session-environment.ts';
import { quoteShellWord, quoteShellWords } from '../../core/shell-word.ts';
import { type Environment, readAll, readPaced } from '../../hosts/process.ts';

export interface AgentCommand {
  readonly command: readonly string[];
  readonly dir: string;
  readonly env: Environment;
  /** The user's own shell, which has the user's PATH. */
  readonly shell: string;
  readonly onLine: (line: string) => void;
}

export interface AgentProcess {
  write(text: string): void;
  endInput(): void;
  /** Ends it with every process it started; resolves when none is left. */
  end(): Promise<void>;
  readonly ended: Promise<AgentExit>;
}

export interface AgentExit {
  /** Undefined if it could not be started or was killed. */
  readonly status: number | undefined;
  /** Why the connection to its host ended before it did. */
  readonly lost?: string;
  /** The end of its stderr. */
  readonly stderr: string;
}

export const LAST_ERRORS = 4_000;
/** An escaped process may keep the pipe open after the supervisor has finished. */
const PIPES_GRACE_MS = 500;
/** More than its pipes hold when it ends: the rest is of a process that escaped. */
const MOST_LEFT = 2 ** 20;

export function startAgentProcess(agent: AgentCommand): AgentProcess {
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', newMark(), agent.dir, agent.shell, lineOf(agent)], {
    env: { ...agent.env, ...(agent.env.PATH === undefined ? {} : { tmx_path: agent.env.PATH }) },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  // If no pipe could be created, it is missing here and an error event follows.
  const streams: readonly unknown[] = child.stdio ?? [];
  const [stdin, stdout, stderr, lifeline] = streams as Partial<[Writable, Readable, Readable, Writable]>;
  for (const stream of [stdin, stdout, stderr, lifeline]) stream?.on('error', () => {}); // the exit event reports it
  const lines = createLineReader(agent.onLine);
  let said = '';
  let bytes = 0;
  const read = (from: Readable | undefined, take: (chunk: Buffer) => void) => {
    const count = (chunk: Buffer) => {
      bytes += chunk.length;
      take(chunk);
    };
    if (from !== undefined) readPaced(from, count, { most: LONGEST });
  };
  read(stdout, lines.add);
  read(stderr, (chunk) => {
    said = (said + chunk.toString('utf8')).slice(-LAST_ERRORS);
  });

  const ended = new Promise<AgentExit>((resolve) => {
    let status: number | undefined;
    const finish = () => {
      for (const stream of [stdin, stdout, stderr, lifeline]) stream?.destroy();
      lines.end();
      resolve({ status, stderr: withoutNoise(said) });
    };
    child.on('error', (error) => {
      said += error.message;
      if (child.pid === undefined) finish();
    });
    child.on('exit', (code) => {
      status = code ?? undefined;
      const most = bytes + MOST_LEFT;
      const look = async () => {
        await readAll();
        const isHeldBack = [stdout, stderr].some((stream) => stream?.isPaused() === true);
        if (isHeldBack && bytes < most) grace = setTimeout(look, PIPES_GRACE_MS);
        else finish();
      };
      let grace = setTimeout(look, PIPES_GRACE_MS);
      child.on('close', () => {
        clearTimeout(grace);
        finish();
      });
    });
  });

  return {
    ended,
    write: (text) => void stdin?.write(text),
    endInput: () => void stdin?.end(),
    async end() {
      lifeline?.destroy();
      await ended;
    },
  };
}

/** Identifies the processes of a turn. */
export function newMark(): string {
  return randomBytes(12).toString('hex');
}

/** For the login shell. Its start-up files must not write to the agent's output or read its input. */
export function lineOf({ dir, command }: Pick<AgentCommand, 'dir' | 'command'>): string {
  return `cd ${quoteShellWord(dir)} && exec ${quoteShellWords(['sh', '-c', RUN_FOUND, 'sh', ...command])} <&4 >&5 4<&- 5>&-`;
}

const PASSED: readonly string[] = [
  ...[...COMMON_VARIABLES, 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TZ', 'TMPDIR', 'SSH_AUTH_SOCK', 'XDG_*'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'THREADMUX_HOME', 'all_proxy', 'ALL_PROXY'],
];

/**
 * Without our tokens and without TMUX, because the agent is in no pane. `patterns`: the variables that the configuration
 * or its driver gives to the agent. `also` tells the permission hook which agent it is.
 */
export function agentEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
  also: Environment,
): Environment {
  return { ...sessionEnvironment(env, [...PASSED, ...patterns]), ...also };
}

/** An interactive shell without a terminal prints these complaints. */
const NOISE = /no job control in this shell|cannot set terminal process group|job control turned off/;

export function withoutNoise(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !NOISE.test(line))
    .join('\n')
    .trim();
}

/**
 * An agent may start every tool in its own session and leave it behind when it is killed, so a process group is not enough.
 * So: all descendants, and all processes with this turn's mark in their environment, whatever their parent is now.
 * Processes below a tmux server are meant to stay; TMUX in an environment proves nothing. A process that has cleared its
 * environment and left its parent is not found. First TERM, after two seconds KILL; it exits when no process is left.
 * The agent runs in the foreground, because a shell makes background processes ignore SIGINT.
 */
export const SUPERVISOR = `mark=$1; dir=$2; shell=$3; line=$4
exec 4<&0 5>&1 </dev/null >/dev/null
cd "$dir" || exit 1
marked() {
  if [ -d /proc/self ]; then
    for e in $(grep -l -s -F "THREADMUX_TURN=$mark" /proc/[0-9]*/environ); do
      e=\${e#/proc/}; echo "\${e%/environ}"
    done
  else ps axeww -o pid= -o command= | grep "[T]HREADMUX_TURN=$mark" | awk '{ print $1 }'
  fi 2>/dev/null
}
left() {
  ps -A -o pid= -o ppid= -o stat= -o comm= | awk -v root=$$ -v me="$me" -v also="$(echo $seen $(marked))" '
    BEGIN { split(also, list, " "); for (i in list) known[list[i]] }
    $3 !~ /^Z/ { parent[$1] = $2; sub(/.*\\//, "", $4); if ($4 ~ /^tmux/) tmux[$1] }
    END { for (pid in parent) {
      at = pid; stays = 0
      for (n = 0; n < 99 && (at in parent) && at != root && at != me; n++) {
        if (at in tmux) stays = 1
        at = parent[at]
      }
      if (pid != root && at != me && (at == root || (pid in known && !stays))) print pid } }'
}
sweep() {
  me=$(exec sh -c 'echo $PPID'); seen=; n=0
  while now=$(left); [ -n "$now" ] && [ $n -lt 60 ]; do
    for pid in $now; do case " $seen " in *" $pid "*) ;; *) kill -s TERM "$pid"; seen="$seen $pid";; esac; done
    [ $n -lt 20 ] || kill -s KILL $now
    n=$((n + 1)); sleep 0.1 2>/dev/null || sleep 1
  done 2>/dev/null
}
( exec 4<&- 5>&- 2>/dev/null; read -r _ <&3; trap : TERM; sweep ) &
watcher=$!
trap : TERM HUP INT # after the fork: dash loses a TERM that reaches the watcher before it has reset an inherited trap
THREADMUX_TURN=$mark "$shell" -l -i -c "$line" 3<&-
status=$?
exec 4<&- 5>&-
{ kill -s TERM $watcher; wait $watcher; } 2>/dev/null # one that sweeps goes on to its end
( sweep )
exit $status`;

// Splits the chunks of a pipe into lines. A line longer than the limit is dropped completely and uses no more memory than
// the limit.
interface LineReader {
  readonly add: (chunk: Uint8Array) => void;
  /** Text after the last line feed is a line, too. */
  readonly end: () => void;
}

/** A tool's result may contain a picture; the agent's own text never gets this long. */
const LONGEST = 32 * 1024 * 1024;

export function createLineReader(onLine: (line: string) => void, longest = LONGEST): LineReader {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let length = 0;

  function hold(piece: string): void {
    length += piece.length;
    if (length <= longest) pieces.push(piece);
    else pieces = [];
  }

  function release(): void {
    const line = pieces.join('');
    pieces = [];
    length = 0;
    if (line.trim() !== '') onLine(line);
  }

  return {
    add(chunk) {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      hold(first);
      for (const piece of others) {
        release();
        hold(piece);
      }
    },
    end() {
      hold(decoder.end());
      release();
    },
  };
}
