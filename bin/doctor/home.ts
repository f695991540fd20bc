// Checks of our home, the configuration, the running processes and the outbox. Pure functions.

import { formatDuration } from '../../core/duration.ts';
import { errnoWords, explain, isThreadmuxError } from '../../core/errors.ts';
import type { HomeState, LockState } from '../../home/home.ts';
import { type Finding, fault, fine, warning } from './finding.ts';

/** The same time after which `hooks/courier-loop.ts` replaces a courier without heartbeats. */
const HUNG_MS = 60_000;
const OLD_LETTER_MS = 5 * 60_000;

export function judgeHome(look: HomeState): readonly Finding[] {
  const { root } = look;
  if (look.kind === 'missing')
    return [warning('home', `${root} does not exist: threadmux is not set up yet.`, 'Run `threadmux init`.')];
  if (look.kind === 'not-a-folder' || !look.isOwn)
    return [
      fault(
        'home',
        `${root} is not a folder, or it belongs to another user.`,
        'Move it away, or set THREADMUX_HOME to a folder that you own.',
      ),
    ];
  const found = [...judgePlace(look.exposed), ...judgeMode(look.mode, root), ...judgeWriting(look.writeError, root)];
  return found.length > 0 ? found : [fine('home', `${root} is private and writable.`)];
}

function judgePlace(exposed: (HomeState & { kind: 'home' })['exposed']): readonly Finding[] {
  return exposed === undefined ? [] : [fault('home', `${exposed.problem}.`, exposed.hint)];
}

function judgeMode(mode: number, root: string): readonly Finding[] {
  if ((mode & 0o077) === 0) return [];
  return [
    fault(
      'home',
      `Other users can access ${root} (mode ${mode.toString(8)}): they could read your messages and answer prompts.`,
      `Run: chmod 700 ${root}`,
    ),
  ];
}

function judgeWriting(code: string | undefined, root: string): readonly Finding[] {
  if (code === undefined) return [];
  const { why, remedy } = errnoWords(code) ?? { why: code, remedy: 'Check the folder and its disk.' };
  return [fault('home', `Cannot write to ${root}: ${why}.`, remedy)];
}

/** The error already contains the problems, one per line. */
export function judgeConfig(error: unknown, servers: number): readonly Finding[] {
  if (error === undefined)
    return [
      fine(
        'config',
        servers === 0 ? 'Discord is not configured; the local workspace is used.' : 'The configuration is valid.',
      ),
    ];
  const message = error instanceof Error ? error.message : explain(error);
  return message.split('\n').map((line) => fault('config', `${line}.`, remedyFor(line, error)));
}

/** `on` is the host of the roots, if it is not this machine. */
export function judgeRoots(missing: readonly string[], on?: string): readonly Finding[] {
  return missing.map((path) =>
    warning(
      'config',
      `"roots"${on ? ` of ${on}` : ''} contains ${path}, which does not exist: nothing can be started there.`,
      `Create the folder${on ? ' there' : ''}, or correct the path in config.json.`,
    ),
  );
}

function remedyFor(line: string, error: unknown): string {
  if (/allow|ALLOWED_USERS/.test(line))
    return 'Add your own user id (Discord: right-click your name, Copy User ID), or run `threadmux init`.';
  if (/is not a key/.test(line)) return 'Remove the key, or correct its spelling.';
  return (isThreadmuxError(error) ? error.hint : undefined) ?? 'Correct config.json, or run `threadmux init`.';
}

interface Running {
  readonly look: HomeState;
  /** The bridge of the default home, if this is another home. */
  readonly elsewhere: { readonly root: string; readonly lock: LockState } | undefined;
}

export function judgeRunning({ look, elsewhere }: Running): readonly Finding[] {
  return [
    ...(look.kind === 'home' ? [judgeBridge(look.bridge), ...judgeCourier(look.courier, look.beatAgeMs)] : []),
    ...(elsewhere?.lock.kind === 'held'
      ? [
          warning(
            'bridge',
            `Another threadmux is running with ${elsewhere.root} (process ${elsewhere.lock.pid}). If both use the same bot, both answer.`,
            'Stop one of them, or set THREADMUX_HOME to the same folder everywhere.',
          ),
        ]
      : []),
  ];
}

function judgeBridge(lock: LockState): Finding {
  switch (lock.kind) {
    case 'held':
      return fine('bridge', `threadmux is running (process ${lock.pid}).`);
    case 'stale':
      return warning(
        'bridge',
        'threadmux is not running: it was killed, or the machine lost power.',
        'Start it with `threadmux up`; it cleans up by itself.',
      );
    case 'free':
      return warning(
        'bridge',
        'threadmux is not running: messages wait.',
        'Start it with `threadmux up`, or run `threadmux service install` to start it at every login.',
      );
  }
}

function judgeCourier(lock: LockState, beatAgeMs: number | undefined): readonly Finding[] {
  if (lock.kind !== 'held' || beatAgeMs === undefined || beatAgeMs < HUNG_MS) return [];
  return [
    fault(
      'courier',
      `The courier (process ${lock.pid}) hangs: no heartbeat for ${formatDuration(beatAgeMs)}.`,
      `The next reply replaces it. To fix it now, run: kill -9 ${lock.pid}, then restart threadmux.`,
    ),
  ];
}

interface OutboxLook {
  readonly folder: string;
  readonly waiting: number;
  readonly oldestMs: number;
  readonly aside: number;
}

export function judgeOutbox({ folder, waiting, oldestMs, aside }: OutboxLook): readonly Finding[] {
  return [
    ...(waiting > 0 && oldestMs > OLD_LETTER_MS
      ? [
          fault(
            'outbox',
            `${waiting} of the agents' messages are not delivered, the oldest for ${formatDuration(oldestMs)}.`,
            'Fix the other problems and start `threadmux up`. Run `threadmux logs` to see why each message waits.',
          ),
        ]
      : []),
    ...(aside > 0
      ? [
          warning(
            'outbox',
            `The server rejected ${aside} of the agents' messages. They are in ${folder}/aside.`,
            'Run `threadmux logs` to see why. Read the files, then delete them.',
          ),
        ]
      : []),
  ];
}
