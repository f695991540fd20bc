// The file with what is remembered of declared sessions: what was ended on purpose, and when they crashed. Written at each change, so that a crash of the
// bridge forgets nothing.

import * as z from 'zod';
import { readJson, writeBestEffort } from '../../home/atomic-write.ts';
import { type DeclaredMemory, memorySchema, NOTHING_KNOWN } from './decide-start.ts';

export function openDeclaredMemory(path: string) {
  const all = new Map(Object.entries(readJson(path, z.record(z.string(), memorySchema)) ?? {}));
  return {
    get: (key: string): DeclaredMemory => all.get(key) ?? NOTHING_KNOWN,
    /** False if nothing has changed. */
    set(key: string, memory: DeclaredMemory): boolean {
      if (JSON.stringify(all.get(key) ?? NOTHING_KNOWN) === JSON.stringify(memory)) return false;
      all.set(key, memory);
      writeBestEffort(path, Object.fromEntries(all));
      return true;
    },
  };
}
