// Reports temporary problems of this machine (a full disk, no file watches left) once when they begin and once when they end,
// so that a write that fails every second does not fill the log.

import { errnoOf, errnoWords, isDiskFull } from '../core/file-errors.ts';

interface DiskFailure {
  readonly kind: 'disk' | 'watches';
  readonly isOver: boolean;
  readonly words: string;
}

const listeners = new Set<(trouble: DiskFailure) => void>();
/** The files and folders that fail at the moment. */
const failing = { disk: new Set<string>(), watches: new Set<string>() };

/** Returns a function that removes the listener. */
export function onDiskFailure(listener: (trouble: DiskFailure) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** `what` is the file that cannot be written. */
export function reportWriteFailed(what: string, error: unknown): void {
  const why = errnoWords(errnoOf(error))?.why ?? (error as Error).message;
  const words = isDiskFull(error)
    ? `The disk is full: ${what}. threadmux keeps running and writes it when there is room.`
    : `${what} cannot be written: ${why}. threadmux keeps running and tries again.`;
  fails('disk', what, words);
}

export function reportWriteWorked(what: string): void {
  works('disk', what, 'There is room again: everything has been written.');
}

export function reportWatchFailed(folder: string): void {
  const words = 'The system has no file watches left: threadmux checks its folders every few seconds.';
  fails('watches', folder, words);
}

function fails(kind: DiskFailure['kind'], what: string, words: string): void {
  const isFirst = failing[kind].size === 0;
  failing[kind].add(what);
  if (isFirst) tell({ kind, isOver: false, words });
}

function works(kind: DiskFailure['kind'], what: string, words: string): void {
  if (failing[kind].delete(what) && failing[kind].size === 0) tell({ kind, isOver: true, words });
}

function tell(trouble: DiskFailure): void {
  for (const listener of [...listeners]) listener(trouble);
}
