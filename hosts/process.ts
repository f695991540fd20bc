// Runs one child process to its end, with hard limits on time and output, and reads all of its output.
// The child has its own session, so it cannot ask anything on our terminal, and only the environment it is given.

import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

export type Environment = Readonly<Record<string, string>>;

interface ProcessOptions {
  readonly env: Environment;
  readonly timeoutMs: number;
  readonly input?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Kill the whole process group: the children of a shell would keep its pipes open. */
  readonly withGroup?: boolean;
  readonly frame?: OutputFrame;
  /** The encoding of stdout; latin1 keeps every byte. */
  readonly encoding?: 'utf8' | 'latin1' | undefined;
  /** How much of our part of stdout is accepted; a process that prints more is killed. */
  readonly maxBytes?: number | undefined;
}

/** Which part of stdout is ours; see frame.ts. */
export interface OutputFrame {
  /** Everything before it is discarded: a login shell may print any amount. */
  readonly begin: string;
  readonly isWhole: (stdout: string) => boolean;
  readonly onBegin?: () => void;
}

export interface ProcessResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | undefined;
  readonly ended: 'itself' | 'timeout' | 'abort' | 'overflow' | 'not-started';
}

const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;
/** Only the last lines are ever shown. */
export const STDERR_KEPT = 16 * 1024;
/** An ssh master process in the background may keep our pipes open after the child itself has ended. */
export const PIPES_GRACE_MS = 300;

export function runProcess(file: string, args: readonly string[], options: ProcessOptions): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { env: options.env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    // If no file descriptor is free, there are no pipes, and an 'error' event follows.
    const pipes: Partial<Pick<typeof child, 'stdin' | 'stdout' | 'stderr'>> = child;
    const stdout = options.frame === undefined ? keepAll(options.encoding) : keepFrom(options.frame, options.encoding);
    const stderr = keepEnd(STDERR_KEPT);
    let bytes = 0;
    let over = false;
    let status: number | undefined;
    let ended: ProcessResult['ended'] = 'itself';

    const finish = () => {
      over = true;
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', onAbort);
      pipes.stdout?.destroy();
      pipes.stderr?.destroy();
      resolve({ stdout: stdout.text(), stderr: stderr.text(), status, ended });
    };
    const stop = (why: ProcessResult['ended']) => {
      if (ended !== 'itself') return;
      ended = why;
      killProcess(child.pid, options.withGroup === true);
    };
    const onAbort = () => stop('abort');
    const timer = setTimeout(() => stop('timeout'), options.timeoutMs);
    options.signal?.addEventListener('abort', onAbort);
    if (options.signal?.aborted === true) onAbort();

    const collect = (into: OutputBuffer) => (chunk: Buffer) => {
      bytes += chunk.length;
      const most = into === stdout ? (options.maxBytes ?? MAX_OUTPUT_BYTES) : MAX_OUTPUT_BYTES;
      if (bytes <= MAX_OUTPUT_BYTES) into.add(chunk);
      if (bytes > MAX_OUTPUT_BYTES || into.bytes() > most) stop('overflow');
    };
    pipes.stdout?.on('data', collect(stdout));
    pipes.stderr?.on('data', collect(stderr));
    /** The pipes may still have unread output: under load, a timer can fire before the event loop reads them. */
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
    pipes.stdin?.on('error', () => {}); // it may end before it has read all input; its result says why
    pipes.stdin?.end(options.input);
  });
}

/** Passes only the named variables on: a token in our environment never reaches a child. */
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

export function killProcess(pid: number | undefined, withGroup: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(withGroup ? -pid : pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** The event loop reads the pipes before each turn. Twice, because 'exit' may be emitted in the middle of a read phase. */
export async function readAll(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

interface OutputBuffer {
  add(chunk: Buffer): void;
  /** How many bytes it keeps. */
  bytes(): number;
  text(): string;
}

function keepAll(encoding: BufferEncoding = 'utf8'): OutputBuffer {
  const chunks = makeChunks();
  return { ...chunks, text: () => chunks.all().toString(encoding) };
}

function keepFrom({ begin, onBegin }: OutputFrame, encoding?: BufferEncoding): OutputBuffer {
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
    bytes: rest.bytes,
    text: rest.text,
  };
}

export function keepEnd(most: number): OutputBuffer {
  let end = Buffer.alloc(0);
  return {
    add(chunk) {
      end = Buffer.from(Buffer.concat([end, chunk]).subarray(-most));
    },
    bytes: () => end.length,
    text: () => end.toString('utf8'),
  };
}

// Collects the chunks of a stream. A hostile host can send one byte per chunk, and each chunk costs about 500 bytes of memory,
// so small chunks are joined on the way.

const JOINED = 1024;

export function makeChunks() {
  let joined: Buffer[] = [];
  let recent: Buffer[] = [];
  let bytes = 0;
  return {
    add(chunk: Buffer): void {
      bytes += chunk.length;
      recent.push(chunk);
      if (recent.length < JOINED) return;
      joined.push(Buffer.concat(recent));
      recent = [];
    },
    bytes: () => bytes,
    /** Everything so far; copies only if there is more than one chunk. */
    all(): Buffer {
      const chunks = [...joined, ...recent];
      const whole = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      joined = [whole];
      recent = [];
      return whole;
    },
  };
}

// Reads output of a host or an agent, but not faster than so many bytes in a period, and not for more than a fifth of our time: a flood on
// a connection that stays open would otherwise keep us busy for ever. The rest waits where it comes from.

const MOST_BYTES = 4 * 2 ** 20;
const PERIOD_MS = 1_000;
/** Work that is too short to be followed by a pause. */
const LEAST_MS = 5;

export function readPaced(
  from: Readable,
  take: (chunk: Buffer) => void,
  { most = MOST_BYTES, periodMs = PERIOD_MS } = {},
): void {
  let bytes = 0;
  let spentMs = 0;
  from.on('data', (chunk: Buffer) => {
    const began = performance.now();
    take(chunk);
    spentMs += performance.now() - began;
    bytes += chunk.length;
    if (bytes < most && spentMs < LEAST_MS) return;
    const pauseMs = Math.max(4 * spentMs, bytes < most ? 0 : periodMs);
    bytes = 0;
    spentMs = 0;
    from.pause();
    setTimeout(() => from.resume(), pauseMs).unref();
  });
}
