// The log of a program's output, as the pipe of tmux/pipe.ts writes it: numbered segments, read by position.
// Each read is bounded. Segments that the cap has removed are reported as a gap, never skipped silently.

import {
  closeSync,
  existsSync,
  type FSWatcher,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { reportWatchFailed } from '../../home/atomic-write.ts';

export const positionSchema = z.object({ segment: z.number(), offset: z.number() });
export type LogPosition = Readonly<z.output<typeof positionSchema>>;
export const LOG_START: LogPosition = { segment: 1, offset: 0 };

type LogReading =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** Segments are missing; the next read returns what follows them. */
  | { readonly kind: 'gap' }
  | { readonly kind: 'nothing' };

export interface TerminalLog {
  read(maxBytes: number): LogReading;
  position(): LogPosition;
  /** There is something to read. */
  hasMore(): boolean;
  /** The pipe was closed: the log is complete. */
  isEnded(): boolean;
  /** Removes the segments before this position. They are never read again. */
  forget(before: LogPosition): void;
  /** Resolves when something may have been written, at the latest after `ms`. */
  changed(ms: number, signal: AbortSignal): Promise<void>;
}

export function openTerminalLog(folder: string, from: LogPosition): TerminalLog {
  let { segment, offset } = from;
  const path = (number: number) => join(folder, String(number));
  const later = () => segmentsIn(folder).filter((number) => number > segment);
  const hasMore = () => logBytes(path(segment)) > offset || later().length > 0;
  return {
    read(maxBytes) {
      for (;;) {
        const next = later()[0]; // before reading: a segment is complete once the next one exists
        const bytes = readAt(path(segment), offset, maxBytes);
        if (bytes === undefined && next !== undefined) {
          segment = next;
          offset = 0;
          return { kind: 'gap' };
        }
        if (bytes === undefined || (bytes.length === 0 && next === undefined)) return { kind: 'nothing' };
        offset += bytes.length;
        if (bytes.length > 0) return { kind: 'bytes', bytes };
        const isCut = existsSync(cutMark(folder, segment));
        segment = isCut && next !== undefined ? next : segment + 1;
        offset = 0;
        if (isCut) return { kind: 'gap' };
      }
    },
    position: () => ({ segment, offset }),
    hasMore,
    isEnded: () => existsSync(join(folder, 'end')) && !hasMore(),
    forget(before) {
      for (const number of segmentsIn(folder).filter((one) => one < before.segment))
        for (const file of [cutMark(folder, number), path(number)]) rmSync(file, { force: true });
    },
    changed(ms, signal) {
      return new Promise((resolve) => {
        const watcher = watching(folder, () => done());
        const done = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', done);
          watcher?.close();
          resolve();
        };
        const timer = setTimeout(done, watcher === undefined ? Math.min(ms, POLL_MS) : ms);
        signal.addEventListener('abort', done);
        if (signal.aborted || hasMore()) done();
      });
    },
  };
}

/** The rest of this segment is lost: its reader reports a gap after it. */
export function markCut(folder: string, segment: number): void {
  writeFileSync(cutMark(folder, segment), '', { mode: 0o600 });
}

const cutMark = (folder: string, segment: number) => join(folder, `${segment}.cut`);

const POLL_MS = 500;

/** Undefined if the system has no watchers left: the caller then polls. */
function watching(folder: string, tell: () => void): FSWatcher | undefined {
  try {
    return watch(folder, tell).on('error', tell);
  } catch {
    reportWatchFailed(folder);
    return undefined;
  }
}

/** The numbers of the segments, in order. */
export function segmentsIn(folder: string): readonly number[] {
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** Undefined if there is no such segment. */
function readAt(path: string, offset: number, maxBytes: number): Uint8Array | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const buffer = Buffer.allocUnsafe(maxBytes);
    return buffer.subarray(0, readSync(fd, buffer, 0, maxBytes, offset));
  } finally {
    closeSync(fd);
  }
}

export function logBytes(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
