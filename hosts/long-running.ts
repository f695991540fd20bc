// Runs one child process that keeps running. Its output begins after our begin marker, so the greeting of a login shell is
// never part of it; its input is held back until then, so a startup file of the shell cannot read it.

import { spawn } from 'node:child_process';
import { PassThrough, type Readable, Transform, type Writable } from 'node:stream';
import { type Environment, keepEnd, killProcess, PIPES_GRACE_MS, type ProcessResult, STDERR_KEPT } from './process.ts';

interface LongRunningOptions {
  readonly env: Environment;
  readonly begin: string;
  /** How long to wait for the begin marker. */
  readonly beginTimeoutMs: number;
  readonly withGroup?: boolean;
}

interface LongRunningProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** True once the marker was read; false if the process ended before. */
  readonly begun: Promise<boolean>;
  readonly ended: Promise<ProcessResult>;
  stop(): void;
}

/** Starts when `admitted` resolves; never starts if it is stopped before. */
export function startLongRunning(
  admitted: Promise<void>,
  file: string,
  args: readonly string[],
  options: LongRunningOptions,
): LongRunningProcess {
  const stdin = new PassThrough();
  const stderr = keepEnd(STDERR_KEPT);
  let why: ProcessResult['ended'] = 'itself';
  let end = () => {};
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let sawBegin = (_: boolean) => {};
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
      const child = spawn(file, args, {
        env: options.env,
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe'],
      });
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
      pipes.stderr?.on('data', stderr.add);
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
