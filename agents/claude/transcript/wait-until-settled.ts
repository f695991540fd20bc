// Waits until a transcript stops growing and ends in a complete line, for versions of Claude Code that call Stop before the
// reply is written. The file is polled: the wait is short, and a watcher starts slower and does not work on network drives.

import { setTimeout as sleep } from 'node:timers/promises';
import type { FileSource } from '../../../core/file-source.ts';
import { localFileSource } from '../../../home/local-file.ts';

interface SettleOptions {
  /** How long the file must stay unchanged. */
  readonly quietMs?: number;
  readonly deadlineMs?: number;
  readonly pollMs?: number;
  /** Where the file is; by default this machine. */
  readonly files?: FileSource | undefined;
}

/** True once the file is unchanged and ends in a complete line; false if that did not happen in time. */
export async function waitUntilSettled(path: string, options: SettleOptions = {}): Promise<boolean> {
  const { quietMs = 250, deadlineMs = 5_000, pollMs = 50, files = localFileSource } = options;
  const deadline = performance.now() + deadlineMs;
  let seen = await lookAt(files, path);
  let since = performance.now();
  try {
    for (;;) {
      if (seen?.endsInLine && performance.now() - since >= quietMs) return true;
      if (performance.now() >= deadline) return false;
      await sleep(pollMs);
      if (seen !== undefined && (await seen.file.sizeNow()) === seen.file.size) continue;
      await seen?.file.close();
      seen = await lookAt(files, path);
      since = performance.now();
    }
  } finally {
    await seen?.file.close();
  }
}

async function lookAt(files: FileSource, path: string) {
  const file = await files.open(path);
  if (file === undefined) return undefined;
  const end = file.size === 0 ? undefined : await file.read(file.size - 1, 1);
  return { file, endsInLine: end?.[0] === 0x0a };
}
