// A machine on which we can run POSIX sh scripts. This file has the local machine; ssh.ts has remote hosts.
// Scripts get their data on stdin or as arguments; it never becomes part of a script.

import type { Readable, Writable } from 'node:stream';
import { explain } from '../core/errors.ts';
import { commandAborted, scriptFailed } from './host-errors.ts';
import { startLongRunning } from './long-running.ts';
import { frameScript, frameStaying, outputFrame, readFrame } from './output-frame.ts';
import { pickEnvironment, runProcess } from './process.ts';

export interface ShOptions {
  /** Completes the sentence "threadmux could not …" in errors. */
  readonly doing?: string;
  readonly input?: string | Uint8Array;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** The encoding of stdout; latin1 keeps every byte. */
  readonly encoding?: 'utf8' | 'latin1';
  /** More output is an error; by default 32 MiB. */
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
        maxBytes: call.maxBytes,
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
        ...{ env, begin, withGroup: true },
        beginTimeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      });
      const ended = run.ended.then((ran) => explain(commandAborted(options.name, STAY, ran)));
      return { stdin: run.stdin, stdout: run.stdout, stop: run.stop, ended };
    },
    async close() {},
  };
}
