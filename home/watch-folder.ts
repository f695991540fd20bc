// Tells when something in a folder was added, removed or replaced. Where the system has no watches left, or none for this folder, it
// is looked at now and then instead.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { watchFails } from './trouble.ts';

export function watchFolder(folder: string, onChange: () => void, everyMs: number): () => void {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  const lookInstead = () => {
    watcher?.close();
    watcher = undefined;
    watchFails(folder);
    let before = changedAt(folder);
    timer ??= setInterval(() => {
      const now = changedAt(folder);
      if (now !== before) onChange();
      before = now;
    }, everyMs);
  };
  try {
    watcher = watch(folder, onChange).on('error', lookInstead);
  } catch {
    lookInstead();
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
    return undefined; // it may come back
  }
}
