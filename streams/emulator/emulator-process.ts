// Runs the emulator of one terminal in a process of its own, with limits on its time, its memory and its answers. Output that
// makes the emulator loop or fill its memory ends only this process, and its terminal is given up. A worker thread is not
// enough: V8 aborts the whole process when one array, map or string of a thread outgrows the limit of that thread.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { parseForeignJson } from '../../core/json.ts';
import { makeChunks } from '../../hosts/process.ts';
import { type EmulatorSize, type Snapshot, snapshotSchema } from './snapshot.ts';

export interface EmulatorProcess {
  /** Resolves with the text that has left the screen. */
  feed(bytes: Uint8Array): Promise<string>;
  resize(size: EmulatorSize): Promise<string>;
  finish(): Promise<{ readonly left: string; readonly live: string }>;
  screen(): Promise<ShownScreen>;
  close(): void;
}

/** The text on the screen, and what continues from it. */
export interface ShownScreen {
  readonly live: string;
  readonly snapshot: Snapshot;
}

export interface EmulatorLimits {
  /** For one answer. */
  readonly limitMs?: number;
  /** The process of a terminal that has printed nothing for so long ends. */
  readonly idleMs?: number;
  /** The file of the program, for tests. */
  readonly program?: string;
}

/** One line of JSON each; the answer is one line, too. */
export type EmulatorRequest =
  | { readonly do: 'open'; readonly size: EmulatorSize; readonly from?: Snapshot; readonly limitMs: number }
  | { readonly do: 'feed'; readonly base64: string }
  | { readonly do: 'resize'; readonly size: EmulatorSize }
  | { readonly do: 'finish' | 'screen' };

const answerSchema = z.object({ left: z.string(), live: z.string(), snapshot: snapshotSchema.optional() });
export type EmulatorAnswer = Readonly<z.input<typeof answerSchema>>;

/** A read of 16 KB takes milliseconds, and six seconds if all of it resets a screen of the largest size. */
const LIMIT_MS = 20_000;
/** The limit counts turns of our own loop: neither a machine that slept nor a busy bridge uses it up at once. */
const TURN_MS = 250;
/** 16 KB of output become at most 2 MB of text, and a screen of the largest size with a mark on each letter is smaller. */
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;
/** The largest screen and its history, each cell with a mark and an underline of its own colour, need half of this heap. */
const FLAGS = ['--max-old-space-size=192', '--v8-pool-size=1'];
/** Linux also limits memory outside of the heap; elsewhere only the size of the screen does. No core file is written. */
const LIMITED = 'ulimit -c 0; ulimit -d 524288 2>/dev/null; exec "$0" "$@"';

/** If it fails, each promise is rejected. Errors with an `errno` are of this machine and may pass. */
export function startEmulator(
  size: EmulatorSize,
  from: Snapshot | undefined,
  { limitMs = LIMIT_MS, program = programFile() }: EmulatorLimits,
  signal: AbortSignal,
): EmulatorProcess {
  const child = spawn('/bin/sh', ['-c', LIMITED, process.execPath, ...FLAGS, program], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  // If no file descriptor is free, there are no pipes, and an 'error' event follows.
  const { stdin, stdout }: Partial<Pick<typeof child, 'stdin' | 'stdout'>> = child;
  let over: Error | undefined;
  let answered: (line: Buffer) => void = () => {};
  let failed: (why: Error) => void = () => {};
  let answer = makeChunks();

  const end = (why: Error) => {
    over ??= why;
    signal.removeEventListener('abort', close);
    child.kill('SIGKILL');
    stdout?.destroy();
    failed(over);
  };
  const close = () => end(new Error('the emulator was closed'));
  signal.addEventListener('abort', close);
  if (signal.aborted) close();
  child.on('error', end);
  child.on('exit', (code, killedBy) => end(new Error(`the emulator ended: ${killedBy ?? `code ${code}`}`)));
  stdin?.on('error', () => {}); // the exit event reports it
  stdout?.on('data', (chunk: Buffer) => {
    answer.add(chunk);
    if (answer.bytes() > MOST_ANSWER_BYTES) end(new Error('the emulator answered too much'));
    else if (chunk.at(-1) === NEWLINE) {
      answered(answer.all());
      answer = makeChunks();
    }
  });

  /** One at a time. */
  async function ask(request: EmulatorRequest): Promise<z.output<typeof answerSchema>> {
    let turns = 0;
    const clock = setInterval(() => {
      if (++turns * TURN_MS >= limitMs) end(new Error('the emulator took too long'));
    }, TURN_MS);
    try {
      const line = await new Promise<Buffer>((resolve, reject) => {
        answered = resolve;
        failed = reject;
        if (over !== undefined) reject(over);
        else stdin?.write(`${JSON.stringify(request)}\n`);
      });
      return answerSchema.parse(parseForeignJson(line.toString('utf8')));
    } catch (error) {
      end(error as Error);
      throw error;
    } finally {
      clearInterval(clock);
    }
  }

  // Its own limit is longer: it counts only if this process was killed meanwhile.
  const opened = ask({ do: 'open', size, ...(from === undefined ? {} : { from }), limitMs: 3 * limitMs });
  opened.catch(() => {}); // the first question reports it
  const asking = async (request: EmulatorRequest) => {
    await opened;
    return ask(request);
  };
  return {
    feed: async (bytes) => (await asking({ do: 'feed', base64: Buffer.from(bytes).toString('base64') })).left,
    resize: async (wanted) => (await asking({ do: 'resize', size: wanted })).left,
    finish: () => asking({ do: 'finish' }),
    async screen() {
      const { live, snapshot } = await asking({ do: 'screen' });
      if (snapshot === undefined) throw new Error('the emulator answered without its screen');
      return { live, snapshot };
    },
    close,
  };
}

const NEWLINE = 0x0a;

/** Beside the compiled code. Tests run from source, with the program that was compiled for them. */
function programFile(): string {
  const compiled = new URL('../../bin/terminal-emulator.js', import.meta.url);
  const file = existsSync(compiled) ? compiled : new URL('../../dist/bin/terminal-emulator.js', import.meta.url);
  return fileURLToPath(file);
}
