// Runs one child process to its end, with a hard limit on time and output. What it printed is read to its end.
// It has its own session, so it cannot ask anything on our terminal, and only the environment it is given.

import { spawn } from 'node:child_process';
import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';

export type Environment = Readonly<Record<string, string>>;

interface ProcessOptions {
  readonly env: Environment;
  readonly timeoutMs: number;
  readonly input?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** End the whole process group with it: for a shell whose children would keep its pipes open. */
  readonly withGroup?: boolean;
  readonly frame?: OutputFrame;
  /** Of stdout; latin1 keeps every byte. */
  readonly encoding?: 'utf8' | 'latin1' | undefined;
}

/** What of stdout is ours; see frame.ts. */
export interface OutputFrame {
  /** Nothing before it is kept: a login shell may print any amount. */
  readonly begin: string;
  readonly isWhole: (stdout: string) => boolean;
  readonly onBegin?: () => void;
}

export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | undefined;
  readonly ended: 'itself' | 'timeout' | 'abort' | 'overflow' | 'not-started';
}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** Nobody is shown more than the last lines. */
export const STDERR_KEPT = 16 * 1024;
/** A master connection that `ssh` left in the background may hold our pipes; the child itself is done. */
export const PIPES_GRACE_MS = 300;

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
    const stdout =
      options.frame === undefined
        ? keepAll(options.encoding)
        : keepFrom(options.frame, options.encoding);
    const stderr = keepEnd(STDERR_KEPT);
    let bytes = 0;
    let over = false;
    let status: number | undefined;
    let ended: Ran['ended'] = 'itself';

    const finish = () => {
      over = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      pipes.stdout?.destroy();
      pipes.stderr?.destroy();
      resolve({ stdout: stdout.text(), stderr: stderr.text(), status, ended });
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

    const collect = (into: Kept) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop('overflow');
      else into.add(chunk);
    };
    pipes.stdout?.on('data', collect(stdout));
    pipes.stderr?.on('data', collect(stderr));
    /** What it printed is in the pipes, but may be unread: under load a timer is due before the loop has read them. */
    const drain = async () => {
      clearTimeout(timer);
      await readAll();
      if (options.frame?.isWhole(stdout.text()) !== true) await sleep(PIPES_GRACE_MS).then(readAll);
      if (!over) finish();
    };
    child.on('error', (error) => {
      if (child.pid !== undefined) return; // a failed kill; the process still reports its end
      ended = 'not-started';
      stderr.add(Buffer.from(error.message));
      finish();
    });
    child.on('exit', (code) => {
      status = code ?? undefined;
      void drain();
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

export function kill(pid: number | undefined, withGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(withGroup ? -pid : pid, 'SIGKILL');
  } catch {
    // It has ended by itself in the meantime.
  }
}

/** Before each of these the loop reads all that is in the pipes: twice, as the end of a child may be seen within a reading. */
async function readAll(): Promise<void> {
  await breathe();
  await breathe();
}

interface Kept {
  add(chunk: Buffer): void;
  text(): string;
}

function keepAll(encoding: BufferEncoding = 'utf8'): Kept {
  const chunks: Buffer[] = [];
  return {
    add: (chunk) => void chunks.push(chunk),
    text: () => Buffer.concat(chunks).toString(encoding),
  };
}

function keepFrom({ begin, onBegin }: OutputFrame, encoding?: BufferEncoding): Kept {
  const mark = Buffer.from(begin);
  const rest = keepAll(encoding);
  let before: Buffer | undefined = Buffer.alloc(0);
  return {
    add(chunk) {
      if (before === undefined) return rest.add(chunk);
      const all = Buffer.concat([before, chunk]);
      const at = all.indexOf(mark);
      before = at === -1 ? Buffer.from(all.subarray(-mark.length)) : undefined;
      if (at === -1) return;
      rest.add(all.subarray(at));
      onBegin?.();
    },
    text: rest.text,
  };
}

export function keepEnd(most: number): Kept {
  let end = Buffer.alloc(0);
  return {
    add(chunk) {
      end = Buffer.from(Buffer.concat([end, chunk]).subarray(-most));
    },
    text: () => end.toString('utf8'),
  };
}
