// A machine on which we can run POSIX sh scripts. This file has the local machine; ssh.ts has remote hosts.
// Scripts get their data on stdin or as arguments; it never becomes part of a script.

import { spawn } from 'node:child_process';
import { PassThrough, type Readable, Transform, type Writable } from 'node:stream';
import { explain } from '../core/errors.ts';
import { commandAborted, frameScript, frameStaying, outputFrame, readFrame, scriptFailed } from './host-errors.ts';
import {
  type Environment,
  keepEnd,
  killProcess,
  PIPES_GRACE_MS,
  type ProcessResult,
  pickEnvironment,
  readPaced,
  runProcess,
  STDERR_KEPT,
} from './process.ts';

export interface ShOptions {
  /** Completes the sentence "threadmux could not …" in errors. */
  readonly doing?: string;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** The encoding of stdout; latin1 keeps every byte. */
  readonly encoding?: 'utf8' | 'latin1';
  /** More output is an error; by default `MOST_OUTPUT`. */
  readonly maxBytes?: number;
}

export interface StartedScript {
  readonly stdin: Writable;
  /** The output, byte for byte; it must be read, or the script blocks. */
  readonly stdout: Readable;
  /** Resolves with a sentence that explains why it ended. */
  readonly ended: Promise<string>;
  stop(): void;
}

export interface Host {
  readonly name: string;
  /** The tmux program on that host: a path, or a name to look up in PATH. */
  readonly tmux: string;
  /** Resolves with the output; rejects with a ThreadmuxError unless the script exited with 0. */
  sh(script: string, args: readonly string[], options?: ShOptions): Promise<string>;
  /** Starts a script that runs until its stdin ends or it is stopped. */
  start(script: string, args: readonly string[]): StartedScript;
  close(): Promise<void>;
}

interface LocalHostOptions {
  readonly name: string;
  readonly tmux?: string;
  /** The source of the variables that are passed to scripts. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs?: number;
}

/** Without TMUX: it would select the tmux server that threadmux itself runs in. */
const LOCAL_VARIABLES = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TERM'],
  ...['TMPDIR', 'TMUX_TMPDIR', 'XDG_RUNTIME_DIR'],
];
const TIMEOUT_MS = 15_000;
/** A hostile host could print millions of lines, and most answers are split into lines. */
export const MOST_OUTPUT = 2 ** 20;
/** Completes "threadmux could not …" when a started script has ended. */
export const STAY = 'keep a script running';

export function localHost(options: LocalHostOptions): Host {
  const env = pickEnvironment(options.env, LOCAL_VARIABLES);
  return {
    name: options.name,
    tmux: options.tmux ?? 'tmux',
    async sh(script, args, call = {}) {
      const doing = call.doing ?? 'run a script';
      const frame = frameScript(script);
      const ran = await runProcess('sh', ['-c', frame.script, 'sh', frame.mark, ...args], {
        env,
        input: call.input,
        encoding: call.encoding,
        signal: call.signal,
        maxBytes: call.maxBytes ?? MOST_OUTPUT,
        timeoutMs: call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS,
        withGroup: true,
        frame: outputFrame(frame.mark),
      });
      const framed = readFrame(ran.stdout, ran.stderr, frame.mark);
      if (framed === undefined) throw commandAborted(options.name, doing, ran);
      if (framed.status !== 0) throw scriptFailed(options.name, doing, framed);
      return framed.stdout;
    },
    start(script, args) {
      const { script: framed, mark, begin } = frameStaying(script);
      const run = startLongRunning(Promise.resolve(), 'sh', ['-c', framed, 'sh', mark, ...args], {
        env,
        begin,
        withGroup: true,
        beginTimeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      });
      const ended = run.ended.then((ran) => explain(commandAborted(options.name, STAY, ran)));
      return { stdin: run.stdin, stdout: run.stdout, stop: run.stop, ended };
    },
    async close() {},
  };
}

// Runs one child process that keeps running. Its output begins after our begin marker, so the greeting of a login shell
// is never part of it; its input is held back until then, so a startup file of the shell cannot read it.

interface LongRunningOptions {
  readonly env: Environment;
  readonly begin: string;
  /** How long to wait for the begin marker. */
  readonly beginTimeoutMs: number;
  readonly withGroup?: boolean;
}

/** Starts when `admitted` resolves; never starts if it is stopped before. */
export function startLongRunning(
  admitted: Promise<void>,
  file: string,
  args: readonly string[],
  options: LongRunningOptions,
) {
  const stdin = new PassThrough();
  const stderr = keepEnd(STDERR_KEPT);
  let why: ProcessResult['ended'] = 'itself';
  let end = () => {};
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let sawBegin = (_: boolean) => {};
  /** True once the marker was read; false if the process ended before. */
  const begun = new Promise<boolean>((resolve) => {
    sawBegin = resolve;
  });
  const stop = (because: ProcessResult['ended']) => {
    if (why === 'itself') why = because;
    leave();
    end();
  };
  const stdout = skipUntil(Buffer.from(options.begin), () => sawBegin(true));
  for (const stream of [stdin, stdout]) stream.on('error', () => {}); // `ended` reports the end

  const run = (): Promise<number | undefined> =>
    new Promise((resolve) => {
      if (why !== 'itself') return resolve(undefined);
      const child = spawn(file, args, { env: options.env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
      // If no file descriptor is free, there are no pipes, and an 'error' event follows.
      const pipes: Partial<Pick<typeof child, 'stdin' | 'stdout' | 'stderr'>> = child;
      const timer = setTimeout(() => stop('timeout'), options.beginTimeoutMs);
      end = () => killProcess(child.pid, options.withGroup === true);
      void begun.then((is) => {
        clearTimeout(timer);
        if (is && pipes.stdin !== undefined) stdin.pipe(pipes.stdin);
      });
      pipes.stdin?.on('error', () => {}); // it has ended; `ended` says why
      pipes.stdout?.pipe(stdout, { end: false });
      if (pipes.stderr !== undefined) readPaced(pipes.stderr, stderr.add);
      child.on('error', (error) => {
        if (child.pid !== undefined) return; // a failed kill
        why = 'not-started';
        stderr.add(Buffer.from(error.message));
        resolve(undefined);
      });
      const finish = () => {
        pipes.stdout?.destroy();
        pipes.stderr?.destroy();
        resolve(child.exitCode ?? undefined);
      };
      // The pipes may stay open after its end (see process.ts), and a slow reader may still have output to read.
      const linger = () => {
        const isUnread = stdout.writableNeedDrain && why === 'itself';
        setTimeout(isUnread ? linger : finish, PIPES_GRACE_MS);
      };
      child.on('exit', linger);
      child.on('close', finish);
    });

  const ended = Promise.race([admitted, left])
    .then(run)
    .then((status): ProcessResult => {
      sawBegin(false);
      stdin.destroy();
      stdout.end();
      return { stdout: '', stderr: stderr.text(), status, ended: why };
    });
  return { stdin, stdout, begun, ended, stop: () => stop('abort') };
}

function skipUntil(mark: Buffer, onMark: () => void): Transform {
  let before: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      if (before === undefined) return done(null, chunk);
      const all = Buffer.concat([before, chunk]);
      const at = all.indexOf(mark);
      before = at === -1 ? Buffer.from(all.subarray(-mark.length)) : undefined;
      if (at === -1) return done();
      onMark();
      done(null, all.subarray(at + mark.length));
    },
  });
}
