// A host reached by the OpenSSH client, over one multiplexed connection that only we use.
// ssh never asks a question: if a password or a confirmation is needed, the call fails at once with an explanation.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { explain, ThreadmuxError } from '../core/errors.ts';
import { isSshName } from '../core/session-name.ts';
import { quoteShellWords } from '../core/shell-word.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { type Host, MOST_OUTPUT, STAY, startLongRunning } from './host.ts';
import {
  connectionFailed,
  type Frame,
  frameScript,
  frameStaying,
  hasBegun,
  noConnection,
  outputFrame,
  readFrame,
  scriptFailed,
} from './host-errors.ts';
import { pickEnvironment, runProcess } from './process.ts';

export interface SshHostOptions {
  readonly name: string;
  /** The argument for `ssh`: an alias of ~/.ssh/config, a host name, or user@host. */
  readonly ssh: string;
  /** The folder of our control sockets; created with mode 0700. */
  readonly controlDir: string;
  readonly tmux?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configFile?: string;
  readonly timeoutMs?: number;
  readonly connectTimeoutSeconds?: number;
}

const SSH_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'SSH_AUTH_SOCK', 'KRB5CCNAME'];
const TIMEOUT_MS = 30_000;
/** sshd allows ten sessions per connection by default (MaxSessions). */
const SESSIONS_AT_ONCE = 8;
/** The size of sun_path on macOS, minus the terminator and the 17 bytes that ssh appends while it creates the socket. */
const SOCKET_PATH_LIMIT = 104 - 1 - 17;

export function sshHost(options: SshHostOptions): Host {
  const { name, ssh } = options;
  if (!isSshName(ssh))
    throw new ThreadmuxError('config_invalid', `host ${name}: ${untrustedCode(ssh)} is not a valid host for ssh`, {
      hint: 'Use an alias of ~/.ssh/config, a host name or user@host.',
    });
  const socket = controlSocket(options);
  const flags = sshFlags(options, socket);
  const env = pickEnvironment(options.env, SSH_VARIABLES);
  const turnstile = openConnectionLimit(SESSIONS_AT_ONCE, () => existsSync(socket));
  const commandFor = (frame: Frame, args: readonly string[]) => {
    mkdirSync(options.controlDir, { recursive: true, mode: 0o700 });
    return `exec sh -c ${quoteShellWords([frame.script, 'sh', frame.mark, ...args])}`;
  };
  const hangUp = async () => {
    await runProcess('ssh', [...flags, '-O', 'exit', '--', ssh], { env, timeoutMs: 5_000 });
  };
  return {
    name,
    tmux: options.tmux ?? 'tmux',
    async sh(script, args, call = {}) {
      const doing = call.doing ?? 'run a script';
      const frame = frameScript(script);
      const command = commandFor(frame, args);
      const timeoutMs = call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS;
      // The time spent waiting for another call to open the connection counts too.
      const deadline = Date.now() + timeoutMs;
      const ran = await turnstile.pass(
        (connected) =>
          runProcess('ssh', [...flags, '--', ssh, command], {
            env,
            input: call.input,
            encoding: call.encoding,
            signal: call.signal,
            maxBytes: call.maxBytes ?? MOST_OUTPUT,
            timeoutMs: Math.max(1, deadline - Date.now()),
            frame: outputFrame(frame.mark, connected),
          }),
        timeoutMs,
      );
      if (ran === 'late') throw noConnection(name, ssh, doing);
      const framed = readFrame(ran.stdout, ran.stderr, frame.mark);
      if (framed === undefined) {
        const begun = hasBegun(ran.stdout, frame.mark);
        // The connection is dead: close it, so that the next call does not wait for it.
        if (ran.ended === 'timeout' && !begun) await hangUp();
        throw connectionFailed(name, ssh, doing, ran, begun);
      }
      if (framed.status !== 0) throw scriptFailed(name, doing, framed);
      return framed.stdout;
    },
    start(script, args) {
      const frame = frameStaying(script);
      let admit = () => {};
      const admitted = new Promise<void>((resolve) => {
        admit = resolve;
      });
      const run = startLongRunning(admitted, 'ssh', [...flags, '--', ssh, commandFor(frame, args)], {
        env,
        begin: frame.begin,
        beginTimeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      });
      // It may open the connection like any call, but does not count towards the limit once it runs.
      void turnstile.pass(async (connected) => {
        admit();
        if (await run.begun) connected();
      });
      const ended = run.ended.then(async (ran) => {
        const begun = await run.begun;
        if (ran.ended === 'timeout') await hangUp();
        if (begun && ran.ended === 'itself' && ran.status !== undefined && ran.status !== 255)
          return scriptFailed(name, STAY, { ...ran, status: ran.status }).message;
        return explain(connectionFailed(name, ssh, STAY, ran, begun));
      });
      return { stdin: run.stdin, stdout: run.stdout, stop: run.stop, ended };
    },
    close: hangUp,
  };
}

/** A short hash: ssh's %C has 40 characters, too many below a long home directory. */
function controlSocket({ name, ssh, controlDir, configFile }: SshHostOptions): string {
  const hash = createHash('sha256')
    .update(`${ssh}\0${configFile ?? ''}`)
    .digest('hex');
  const socket = join(controlDir, hash.slice(0, 12));
  if (Buffer.byteLength(socket) > SOCKET_PATH_LIMIT || /["\\\n]|\$\{/.test(socket))
    throw new ThreadmuxError(
      'config_invalid',
      `host ${name}: the control socket ${socket} has a path that ssh cannot use (more than ${SOCKET_PATH_LIMIT} bytes, or special characters)`,
      { hint: 'Set THREADMUX_HOME to a directory with a shorter, simpler path.' },
    );
  return socket;
}

/** On the command line these override the user's ssh configuration, which decides everything else. */
function sshFlags(options: SshHostOptions, socket: string): string[] {
  const settings = {
    BatchMode: 'yes',
    ControlMaster: 'auto',
    ControlPath: `"${socket.replaceAll('%', '%%')}"`,
    ControlPersist: '600',
    ConnectTimeout: options.connectTimeoutSeconds ?? 10,
    ServerAliveInterval: 5,
    ServerAliveCountMax: 3,
    LogLevel: 'ERROR',
    RequestTTY: 'no',
    RemoteCommand: 'none',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    ForwardX11: 'no',
    PermitLocalCommand: 'no',
  };
  const file = options.configFile === undefined ? [] : ['-F', options.configFile];
  return [...file, ...Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])];
}

// Limits the calls to one host: the first call opens the connection while the others wait; afterwards at most `atOnce`
// calls run at the same time.

function openConnectionLimit(atOnce: number, stillUp: () => boolean) {
  const waiting: (() => void)[] = [];
  let inside = 0;
  let up = false;
  let opening: Promise<void> | undefined;

  /** False if there was no room within this time. */
  const enter = async (withinMs: number) => {
    if (inside < atOnce) {
      inside++;
      return true;
    }
    let mine = () => {};
    const turn = new Promise<void>((next) => {
      mine = next;
      waiting.push(mine);
    });
    await within(turn, withinMs);
    const at = waiting.indexOf(mine);
    if (at >= 0) waiting.splice(at, 1);
    return at < 0;
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) inside--;
    else next();
  };

  return {
    /** The call must run `connected` as soon as the host has answered. 'late': the call could not start within `withinMs`. */
    async pass<T>(
      call: (connected: () => void) => Promise<T>,
      withinMs = Number.POSITIVE_INFINITY,
    ): Promise<T | 'late'> {
      const deadline = Date.now() + withinMs;
      if (!(await enter(withinMs))) return 'late';
      let connected = false;
      let opened = () => {};
      try {
        while (opening !== undefined && Date.now() < deadline) await within(opening, deadline - Date.now());
        if (Date.now() >= deadline) {
          connected = up;
          return 'late';
        }
        if (!up || !stillUp()) {
          const mine = new Promise<void>((resolve) => {
            opened = resolve;
          }).then(() => {
            if (opening === mine) opening = undefined;
          });
          opening = mine;
        }
        return await call(() => {
          connected = true;
          up = true;
          opened();
        });
      } finally {
        if (!connected) up = false;
        opened();
        leave();
      }
    },
  };
}

/** Resolves with the promise, or after `ms`. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
