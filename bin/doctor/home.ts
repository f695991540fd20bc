// Our home and what is at work in it, judged by a look that changed nothing. Pure.

import { formatDuration } from '../../core/duration.ts';
import { errnoWords, explain, isThreadmuxError } from '../../core/errors.ts';
import type { HomeState, LockState } from '../../home/home.ts';
import { type Finding, fault, fine, warning } from './finding.ts';

/** As many missing heartbeats as make `hooks/courier-loop.ts` take one for hung. */
const HUNG_MS = 60_000;
const OLD_LETTER_MS = 5 * 60_000;

export function judgeHome(look: HomeState): readonly Finding[] {
  const { root } = look;
  if (look.kind === 'missing')
    return [warning('home', `There is no ${root} yet: nothing was set up.`, 'Run `threadmux init`.')];
  if (look.kind === 'not-a-folder' || !look.isOwn)
    return [
      fault(
        'home',
        `${root} is not a folder of your own.`,
        'Move it away, or set THREADMUX_HOME to a folder that you own.',
      ),
    ];
  const found = [...judgeMode(look.mode, root), ...judgeWriting(look.writeError, root)];
  return found.length > 0 ? found : [fine('home', `${root} is private and can be written.`)];
}

function judgeMode(mode: number, root: string): readonly Finding[] {
  if ((mode & 0o077) === 0) return [];
  return [
    fault(
      'home',
      `${root} is open to others (mode ${mode.toString(8)}): they could read messages and answer for you.`,
      `Run: chmod 700 ${root}`,
    ),
  ];
}

function judgeWriting(code: string | undefined, root: string): readonly Finding[] {
  if (code === undefined) return [];
  const { why, remedy } = errnoWords(code) ?? {
    why: code,
    remedy: 'Look at the folder and at its disk.',
  };
  return [fault('home', `Nothing can be written into ${root}: ${why}.`, remedy)];
}

/** The reader of the configuration says what is wrong and what to do; here it only gets its place in the list. */
export function judgeConfig(error: unknown, servers: number): readonly Finding[] {
  if (error === undefined)
    return [
      fine(
        'config',
        servers === 0 ? 'No Discord is configured: the local workspace is used.' : 'The configuration is valid.',
      ),
    ];
  const message = error instanceof Error ? error.message : explain(error);
  return message.split('\n').map((line) => fault('config', `${line}.`, remedyFor(line, error)));
}

/** `on`: the host whose roots they are, if it is another one. */
export function judgeRoots(missing: readonly string[], on?: string): readonly Finding[] {
  return missing.map((path) =>
    warning(
      'config',
      `"roots"${on ? ` of ${on}` : ''} names ${path}, and there is no such folder: nothing can be started in it.`,
      `Make it${on ? ' there' : ''}, or correct its spelling in the configuration.`,
    ),
  );
}

function remedyFor(line: string, error: unknown): string {
  if (/allow|ALLOWED_USERS/.test(line))
    return 'Add your own user id (Discord: right-click your name, Copy User ID), or run `threadmux init`.';
  if (/is not a key/.test(line)) return 'Remove it, or correct its spelling.';
  return (isThreadmuxError(error) ? error.hint : undefined) ?? 'Correct it, or run `threadmux init`.';
}

interface Running {
  readonly look: HomeState;
  /** The bridge of the usual home, if this is another one. */
  readonly elsewhere: { readonly root: string; readonly lock: LockState } | undefined;
}

export function judgeRunning({ look, elsewhere }: Running): readonly Finding[] {
  return [
    ...(look.kind === 'home' ? [judgeBridge(look.bridge), ...judgeCourier(look.courier, look.beatAgeMs)] : []),
    ...(elsewhere?.lock.kind === 'held'
      ? [
          warning(
            'bridge',
            `Another threadmux runs with ${elsewhere.root} (process ${elsewhere.lock.pid}): with the same bot, both would answer.`,
            'Stop one of them, or use the same THREADMUX_HOME everywhere.',
          ),
        ]
      : []),
  ];
}

function judgeBridge(lock: LockState): Finding {
  switch (lock.kind) {
    case 'held':
      return fine('bridge', `threadmux runs (process ${lock.pid}).`);
    case 'stale':
      return warning(
        'bridge',
        'threadmux does not run; it ended without a goodbye the last time (killed, or a power cut).',
        'Start it with `threadmux up`; what it left behind is cleared away by itself.',
      );
    case 'free':
      return warning(
        'bridge',
        'threadmux does not run: messages wait.',
        'Start it with `threadmux up`, or for good with `threadmux service install`.',
      );
  }
}

function judgeCourier(lock: LockState, beatAgeMs: number | undefined): readonly Finding[] {
  if (lock.kind !== 'held' || beatAgeMs === undefined || beatAgeMs < HUNG_MS) return [];
  return [
    fault(
      'courier',
      `The courier (process ${lock.pid}) hangs: no sign of life for ${formatDuration(beatAgeMs)}.`,
      `The next reply replaces it; to have it at once: kill -9 ${lock.pid}, then start threadmux again.`,
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
            `${waiting} of Claude's messages could not be delivered, the oldest for ${formatDuration(oldestMs)}.`,
            'Mend what else is said here and start `threadmux up`; `threadmux logs` says why each one waits.',
          ),
        ]
      : []),
    ...(aside > 0
      ? [
          warning(
            'outbox',
            `${aside} of Claude's messages were refused for good and set aside in ${folder}/aside.`,
            '`threadmux logs` says why. Read them there, then delete them.',
          ),
        ]
      : []),
  ];
}
