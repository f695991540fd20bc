// Calls back when a file in a folder was added, removed or replaced. If the system has no file watches left, or cannot watch
// this folder, it is polled instead.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { reportWatchFailed } from './atomic-write.ts';

export function watchFolder(folder: string, onChange: () => void, everyMs: number): () => void {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const pollInstead = () => {
    watcher?.close();
    watcher = undefined;
    reportWatchFailed(folder);
    let before = changedAt(folder);
    timer ??= setInterval(() => {
      const now = changedAt(folder);
      if (now !== before) onChange();
      before = now;
    }, everyMs);
  };
  try {
    watcher = watch(folder, onChange).on('error', pollInstead);
  } catch {
    pollInstead();
  }
  return () => {
    watcher?.close();
    clearInterval(timer);
  };
}

function changedAt(folder: string): bigint | undefined {
  try {
    return statSync(folder, { bigint: true }).mtimeNs;
  } catch {
    return undefined; // the folder is missing; it may be created again
  }
}
