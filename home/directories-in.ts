// The names of the directories in a folder, without hidden ones. A folder may have millions of entries: only so many are looked at.

import { opendir } from 'node:fs/promises';

const MOST_ENTRIES = 20_000;

/** Empty if the folder cannot be read. */
export async function directoriesIn(folder: string, mostEntries = MOST_ENTRIES): Promise<readonly string[]> {
  const names: string[] = [];
  let entries = 0;
  try {
    for await (const entry of await opendir(folder, { bufferSize: 1_000 })) {
      if (++entries > mostEntries) break;
      if (entry.isDirectory() && !entry.name.startsWith('.')) names.push(entry.name);
    }
  } catch {
    // It does not exist, or may not be read.
  }
  return names;
}
