// The file with what is remembered of declared sessions: what was ended on purpose, and when they crashed. Written at each change, so that a crash of the
// bridge forgets nothing.

import * as z from 'zod';
import { readJson, writeBestEffort } from '../../home/atomic-write.ts';
import { type DeclaredMemory, memorySchema, NOTHING_KNOWN } from './decide-start.ts';

interface DeclaredMemories {
  get(key: string): DeclaredMemory;
  /** False if nothing has changed. */
  set(key: string, memory: DeclaredMemory): boolean;
}

export function openDeclaredMemory(path: string): DeclaredMemories {
  const all = new Map(Object.entries(readJson(path, z.record(z.string(), memorySchema)) ?? {}));
  return {
    get: (key) => all.get(key) ?? NOTHING_KNOWN,
    set(key, memory) {
      if (JSON.stringify(all.get(key) ?? NOTHING_KNOWN) === JSON.stringify(memory)) return false;
      all.set(key, memory);
      writeBestEffort(path, Object.fromEntries(all));
      return true;
    },
  };
}
