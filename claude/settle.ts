// Waits until a transcript has stopped growing in whole lines, for versions of Claude Code that call Stop before the
// reply is written. The file is asked again and again rather than watched: the wait is short, there is one file, and
// a watcher takes longer to start and is silent on network homes.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSource } from '../core/file-source.ts';
import { localFiles } from '../hosts/files.ts';

export interface SettleOptions {
  /** How long nothing may change. */
  readonly quietMs?: number;
  readonly deadlineMs?: number;
  readonly pollMs?: number;
  /** Where the transcript is, if not on this machine. */
  readonly files?: FileSource;
}

/** True once it is quiet and ends in a whole line; false if that did not come about in time. */
export async function waitUntilSettled(
  path: string,
  options: SettleOptions = {},
): Promise<boolean> {
  const { quietMs = 250, deadlineMs = 5_000, pollMs = 50, files = localFiles() } = options;
  const deadline = performance.now() + deadlineMs;
  let last = await lookAt(path, files);
  let since = performance.now();
  for (;;) {
    if (last?.endsInLine && performance.now() - since >= quietMs) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pollMs);
    const now = await lookAt(path, files);
    if (now?.mark !== last?.mark) since = performance.now();
    last = now;
  }
}

async function lookAt(path: string, files: FileSource) {
  const file = await files.open(path);
  if (file === undefined) return undefined;
  try {
    const last = file.size === 0 ? undefined : await file.read(file.size - 1, 1);
    return { mark: file.size, endsInLine: last?.[0] === 0x0a };
  } finally {
    await file.close();
  }
}
