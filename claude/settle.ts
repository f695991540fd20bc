// Waits until a transcript has stopped growing in whole lines, for versions of Claude Code that call Stop before the
// reply is written. The file is asked again and again rather than watched: the wait is short, there is one file, and
// a watcher takes longer to start and is silent on network homes.

import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SettleOptions {
  /** How long nothing may change. */
  readonly quietMs?: number;
  readonly deadlineMs?: number;
  readonly pollMs?: number;
}

/** True once it is quiet and ends in a whole line; false if that did not come about in time. */
export async function waitUntilSettled(
  path: string,
  options: SettleOptions = {},
): Promise<boolean> {
  const { quietMs = 250, deadlineMs = 5_000, pollMs = 50 } = options;
  const deadline = performance.now() + deadlineMs;
  let last = await lookAt(path);
  let since = performance.now();
  for (;;) {
    if (last?.endsInLine && performance.now() - since >= quietMs) return true;
    if (performance.now() >= deadline) return false;
    await sleep(pollMs);
    const now = await lookAt(path);
    if (now?.mark !== last?.mark) since = performance.now();
    last = now;
  }
}

async function lookAt(path: string) {
  const file = await open(path, 'r').catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { ino, size, mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    return { mark: `${ino}.${size}.${mtimeMs}`, endsInLine: bytesRead === 1 && buffer[0] === 0x0a };
  } finally {
    await file.close();
  }
}
