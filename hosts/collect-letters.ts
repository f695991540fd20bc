// Collects the letters of a host over one connection that stays open. A letter is removed there after it is on our disk, so
// none is lost; after a lost connection the last letter may arrive twice. Letters are not polled: see collect-letters-script.ts.

import { randomBytes } from 'node:crypto';
import { formatDuration } from '../core/duration.ts';
import { COLLECT, type CollectedLine, letterReader } from './collect-letters-script.ts';
import type { Host, StartedScript } from './host.ts';

interface CollectOptions {
  readonly host: Host;
  /** The absolute path of our home on that host. */
  readonly home: string;
  /** Called with each letter; must write it to our disk before it returns. If it throws, the letter is sent again; after 'full' it is called again later. After 'pane-full' the letters of this pane wait on the host until its next heartbeat. */
  readonly take: (box: string, name: string, letter: Buffer) => 'full' | 'pane-full' | undefined;
  readonly onState: (state: CollectState) => void;
  /** There is no room for the next letter; not said again before one was taken at once. */
  readonly onFull?: () => void;
  readonly fullMs?: number;
  /** A script with its arguments; `onMoved` is called when it prints something else than before. It exits with 0 while that is likely. */
  readonly compared?: readonly [script: string, ...args: string[]];
  readonly onMoved?: () => void;
  readonly signal: AbortSignal;
  readonly heartbeatSeconds?: number;
  readonly backoffMs?: { readonly first: number; readonly longest: number };
}

export type CollectState =
  | { readonly kind: 'connected' }
  | { readonly kind: 'lost'; readonly because: string; readonly at: number };

export type Collector = ReturnType<typeof keepCollecting>;

const HEARTBEAT_SECONDS = 20;
const BEATS_MISSED = 3;
/** Between a letter and its acknowledgement, so that one host does not block other hosts and messages: large letters take longer to handle. */
const PACE_MS = 2;
const BYTES_PER_MS = (4 * 2 ** 20) / 1_000;
/** Lines without a letter in ten seconds. A host that works prints about one per letter; a hostile one could print millions. */
const MOST_IDLE_LINES = 2_000;
const IDLE_LINES_MS = 10_000;
/** Until it is looked for room again. */
const FULL_MS = 5_000;
const BACKOFF_MS = { first: 500, longest: 60_000 };

export function keepCollecting(options: CollectOptions) {
  const { first, longest } = options.backoffMs ?? BACKOFF_MS;
  let started: StartedScript | undefined;
  let wake = () => {};
  let isClosed = options.signal.aborted;
  const close = () => {
    isClosed = true;
    started?.stop();
    wake();
  };
  options.signal.addEventListener('abort', close);

  /** A host that answers, but ends this connection each time, would otherwise be connected to without a pause. */
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const began = performance.now();
      let timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        timer = setTimeout(
          resolve,
          isClosed ? 0 : Math.max(0, began + Math.min(first, BACKOFF_MS.first) - performance.now()),
        );
      };
    });

  async function run(): Promise<void> {
    let pauseMs = first;
    while (!isClosed) {
      started = options.host.start(COLLECT, [
        ...[options.home, String(options.heartbeatSeconds ?? HEARTBEAT_SECONDS)],
        ...[randomBytes(8).toString('hex'), ...(options.compared ?? [''])],
      ]);
      const end = await collectOnce(started, options);
      if (isClosed) break;
      if (end.wasConnected) pauseMs = first;
      // Two collectors of the same home would otherwise replace each other forever.
      if (end.wasReplaced) pauseMs = longest;
      options.onState({ kind: 'lost', because: end.because, at: Date.now() });
      if (!isClosed) await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, longest);
    }
    options.signal.removeEventListener('abort', close);
  }

  const over = run();
  return {
    /** Shortens the pause before the next attempt. */
    tryNow: () => wake(),
    close() {
      close();
      return over;
    },
  };
}

interface End {
  readonly because: string;
  readonly wasConnected: boolean;
  readonly wasReplaced: boolean;
}

type Letter = Extract<CollectedLine, { kind: 'letter' }>;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** One connection, from its start to its end. */
async function collectOnce(started: StartedScript, options: CollectOptions): Promise<End> {
  const silenceMs = (options.heartbeatSeconds ?? HEARTBEAT_SECONDS) * BEATS_MISSED * 1_000;
  const reader = letterReader();
  let because: string | undefined;
  let wasConnected = false;
  let wasReplaced = false;
  /** The last letter is not acknowledged yet. */
  let isWaiting = false;
  let again: NodeJS.Timeout | undefined;
  let isFull = false;
  let idleLines = 0;
  const counting = setInterval(() => {
    idleLines = 0;
  }, IDLE_LINES_MS);
  const giveUp = (reason: string) => {
    because ??= reason;
    started.stop();
  };
  /** The host waits for our word: nothing of it is lost, and nothing more comes. */
  const take = (line: Letter, wasFull: boolean): void => {
    const { box, name, letter } = line;
    silence.refresh();
    const room = options.take(box, name, letter);
    if (room !== undefined && !isFull) options.onFull?.();
    if (room === 'full') {
      isFull = true;
      again = setTimeout(() => retake(line), options.fullMs ?? FULL_MS);
      return;
    }
    isFull = wasFull || room === 'pane-full';
    again = setTimeout(
      () => {
        isWaiting = false;
        if (because === undefined) started.stdin.write(`${room === undefined ? 'ok' : 'hold'} ${box}/${name}\n`);
      },
      PACE_MS + letter.length / BYTES_PER_MS,
    );
  };
  const retake = (line: Letter) => {
    try {
      take(line, true);
    } catch (error) {
      giveUp(messageOf(error));
    }
  };
  const silence = setTimeout(
    () => giveUp(`${options.host.name} has not answered for ${formatDuration(silenceMs)}.`),
    silenceMs,
  );
  started.stdout.on('data', (chunk: Buffer) => {
    silence.refresh();
    if (because !== undefined) return;
    try {
      for (const line of reader.read(chunk)) {
        if (!wasConnected) options.onState({ kind: 'connected' });
        wasConnected = true;
        if (line.kind !== 'letter' && ++idleLines > MOST_IDLE_LINES)
          throw new Error(`${options.host.name} sends too many lines without a letter.`);
        if (line.kind === 'moved') options.onMoved?.();
        else if (line.kind === 'replaced') {
          wasReplaced = true;
          giveUp(`Another threadmux uses ${options.home} on ${options.host.name}.`);
        } else if (line.kind === 'letter') {
          // The script sends the next letter after the acknowledgement; a host that does not wait could keep us busy forever.
          if (isWaiting) throw new Error(`${options.host.name} does not wait for acknowledgements.`);
          isWaiting = true;
          take(line, false);
        }
      }
    } catch (error) {
      giveUp(messageOf(error));
    }
  });
  const ended = await started.ended;
  clearTimeout(silence);
  clearInterval(counting);
  clearTimeout(again);
  return { because: because ?? ended, wasConnected, wasReplaced };
}
