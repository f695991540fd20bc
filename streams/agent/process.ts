// One headless agent as a process of its own, under a small supervisor that holds a line to us. When the line goes dead,
// because we let go of it or were killed, the supervisor ends everything the agent has started: no orphan, ever.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { quoteShellWord, quoteShellWords } from '../../core/shell-word.ts';
import { type Environment, pickEnvironment } from '../../hosts/process.ts';

export interface AgentCommand {
  readonly command: readonly string[];
  readonly dir: string;
  readonly env: Environment;
  /** The person's own, which has the PATH they know. */
  readonly shell: string;
  readonly onLine: (line: string) => void;
}

interface AgentProcess {
  write(text: string): void;
  endInput(): void;
  /** Ends it with everything it has started; resolves when nothing is left. */
  end(): Promise<void>;
  readonly ended: Promise<AgentExit>;
}

interface AgentExit {
  /** Undefined: it could not be started, or was killed. */
  readonly status: number | undefined;
  /** The last it said beside its lines. */
  readonly stderr: string;
}

const STDERR_KEPT = 4_000;
/** Something that got away may hold the pipe; the supervisor itself is done. */
const PIPES_GRACE_MS = 500;

export function startAgentProcess(agent: AgentCommand): AgentProcess {
  const mark = randomBytes(12).toString('hex');
  // What the shell's own start-up files print or read is none of the agent's.
  const line = `cd ${quoteShellWord(agent.dir)} && exec ${quoteShellWords(agent.command)} <&4 >&5 4<&- 5>&-`;
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', mark, agent.dir, agent.shell, line], {
    env: agent.env,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  // Where no pipe could be made, there is none: then an error follows.
  const streams: readonly unknown[] = child.stdio ?? [];
  const [stdin, stdout, stderr, lifeline] = streams as Partial<[Writable, Readable, Readable, Writable]>;
  for (const stream of [stdin, stdout, stderr, lifeline]) stream?.on('error', () => {}); // its end tells
  const lines = createLineReader(agent.onLine);
  stdout?.on('data', lines.add);
  let said = '';
  stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-STDERR_KEPT);
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
      const grace = setTimeout(finish, PIPES_GRACE_MS);
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

const PASSED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'TZ', 'TMPDIR', 'SSH_AUTH_SOCK'],
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'CLOUD_ML_REGION', 'THREADMUX_HOME'],
];
/** How Claude Code is configured and paid for: the person's own business, so it reaches their agent. */
const PASSED_LIKE = /^(?:LC_|XDG_|ANTHROPIC_|CLAUDE_|DISABLE_|AWS_|GOOGLE_|VERTEX_)/;
const PROXY = /^(?:https?|all|no)_proxy$/i;
/** Of the Claude that we may have been started by. */
const NOT_PASSED = /^CLAUDE_CODE_(?:ENTRYPOINT|SESSION_ID|CHILD_SESSION|SSE_PORT)$/;

/** No token of ours, and no TMUX: the agent is in no pane. `also` tells the permission hook whose it is. */
export function agentEnvironment(env: Readonly<Record<string, string | undefined>>, also: Environment): Environment {
  const names = Object.keys(env).filter(
    (name) => (PASSED.includes(name) || PASSED_LIKE.test(name) || PROXY.test(name)) && !NOT_PASSED.test(name),
  );
  return { ...pickEnvironment(env, names), ...also };
}

/** Shells that are told to be interactive, but have no terminal, complain. */
const NOISE = /no job control in this shell|cannot set terminal process group|job control turned off/;

function withoutNoise(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !NOISE.test(line))
    .join('\n')
    .trim();
}

/**
 * Claude Code gives every tool a session of its own and, when it is killed, leaves it behind: a process group is not
 * enough. So: all descendants, and all that carry this turn's mark in their environment, whoever their parent is now.
 * What lives below a tmux server is meant to stay; TMUX in an environment proves nothing. What has cleared its
 * environment and left its parent is not found. First TERM, after two seconds KILL; it ends when nothing is left.
 * The agent runs in the foreground, because a shell makes what it runs in the background ignore SIGINT.
 */
const SUPERVISOR = `mark=$1; dir=$2; shell=$3; line=$4
exec 4<&0 5>&1 </dev/null >/dev/null
trap : TERM HUP INT
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
    n=$((n + 1)); sleep 0.1 || sleep 1
  done 2>/dev/null
}
( exec 4<&- 5>&- 2>/dev/null; read -r _ <&3; trap : TERM; sweep ) &
watcher=$!
THREADMUX_TURN=$mark "$shell" -l -i -c "$line" 3<&-
status=$?
exec 4<&- 5>&-
{ kill -s TERM $watcher; wait $watcher; } 2>/dev/null # one that sweeps goes on to its end
( sweep )
exit $status`;

// MERGED(streams/agent/lines.ts): Lines out of the chunks of a pipe. A line that is too long to be anything we show is dropped, whole, and costs no more
// memory than the limit.
interface LineReader {
  readonly add: (chunk: Uint8Array) => void;
  /** What came after the last line feed is a line, too. */
  readonly end: () => void;
}

/** A tool's result may hold a picture; a text of Claude's is never near this. */
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

// What a headless agent is started with and told. Permissions are skipped only if that is asked for and still allowed.

interface AgentArguments {
  readonly agentSettings: string | undefined;
  readonly skipPermissions: boolean;
  /** The conversation to go on with. */
  readonly session: string | undefined;
}

const STREAM = [
  ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  // Prompts on stdin, and permissions asked for instead of denied: our hook runs beside the question and answers it.
  ...['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
];

export function agentArguments(wanted: AgentArguments): readonly string[] {
  const { agentSettings, skipPermissions, session } = wanted;
  return [
    ...STREAM,
    ...(agentSettings === undefined ? [] : ['--settings', agentSettings]),
    ...(skipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...(session === undefined ? [] : ['--resume', session]),
  ];
}

/** Claude Code would take a first "/" for a command, also on stdin; a space before it makes it text. */
export function guarded(text: string, slashCommands: readonly string[]): string {
  const [word = ''] = text.split(/\s/, 1);
  return text.startsWith('/') && !slashCommands.includes(word) ? ` ${text}` : text;
}
