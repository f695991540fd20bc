// Runs one child process to its end, with a hard limit on time and output.
// It has its own session, so it cannot ask anything on our terminal, and only the environment it is given.

import { spawn } from 'node:child_process';

export type Environment = Readonly<Record<string, string>>;

export interface ProcessOptions {
  readonly env: Environment;
  readonly timeoutMs: number;
  readonly input?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** End the whole process group with it: for a shell whose children would keep its pipes open. */
  readonly withGroup?: boolean;
  /** Sees stdout grow until it returns true. */
  readonly watch?: ((stdoutSoFar: string) => boolean) | undefined;
}

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | undefined;
  readonly ended: 'itself' | 'timeout' | 'abort' | 'overflow' | 'not-started';
}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** A master connection that `ssh` left in the background may hold our pipes; the child itself is done. */
const PIPES_GRACE_MS = 300;

export function runProcess(
  file: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      env: options.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    // Without a free file descriptor there are no pipes, and an error follows.
    const pipes: Partial<Pick<typeof child, 'stdin' | 'stdout' | 'stderr'>> = child;
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let bytes = 0;
    let status: number | undefined;
    let ended: Ran['ended'] = 'itself';

    let grace: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(grace);
      options.signal?.removeEventListener('abort', onAbort);
      pipes.stdout?.destroy();
      pipes.stderr?.destroy();
      resolve({ stdout: textOf(stdout), stderr: textOf(stderr), status, ended });
    };
    const stop = (why: Ran['ended']) => {
      if (ended !== 'itself') return;
      ended = why;
      kill(child.pid, options.withGroup === true);
    };
    const onAbort = () => stop('abort');
    const timer = setTimeout(() => stop('timeout'), options.timeoutMs);
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted === true) onAbort();

    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop('overflow');
      else into.push(chunk);
    };
    pipes.stdout?.on('data', collect(stdout));
    let watch = options.watch;
    pipes.stdout?.on('data', () => {
      if (watch?.(textOf(stdout)) === true) watch = undefined;
    });
    pipes.stderr?.on('data', collect(stderr));
    child.on('error', (error) => {
      if (child.pid !== undefined) return; // a failed kill; the process still reports its end
      ended = 'not-started';
      stderr.push(Buffer.from(error.message));
      finish();
    });
    child.on('exit', (code) => {
      status = code ?? undefined;
      grace = setTimeout(finish, PIPES_GRACE_MS);
    });
    child.on('close', finish);
    pipes.stdin?.on('error', () => {}); // it may end before it has read all; its result says why
    pipes.stdin?.end(options.input);
  });
}

/** The variables a child may see: a token in our own environment never reaches one. */
export function pickEnvironment(
  from: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Environment {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = from[name];
    if (value !== undefined) picked[name] = value;
  }
  return { ...picked, PATH: picked.PATH ?? '/usr/local/bin:/usr/bin:/bin' };
}

function kill(pid: number | undefined, withGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(withGroup ? -pid : pid, 'SIGKILL');
  } catch {
    // It has ended by itself in the meantime.
  }
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString('utf8');
}
