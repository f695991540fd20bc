// State that only spares work or repeats. If it cannot be written (a full disk) memory still has it
// and the next write tries again: no reply may wait for that.

import { writeJson } from '../home/files.ts';

export function keep(path: string, value: unknown): void {
  try {
    writeJson(path, value);
  } catch {
    // A log line would find no room either.
  }
}
