// The records of prompts on the disk.

import { join } from 'node:path';
import { readJson, writeJson } from '../../home/files.ts';
import type { Home } from '../../home/home.ts';
import { discard, forgetKept, keep } from '../../home/keep.ts';
import { type OpenPrompt, type PromptRecord, promptRecordSchema } from './record.ts';

export interface Store {
  read(id: string): PromptRecord | undefined;
  /** On the disk before it counts. */
  save(one: OpenPrompt, to: Partial<PromptRecord>): void;
  /** Memory counts; it is written as soon as the disk has room. */
  note(one: OpenPrompt, to: Partial<PromptRecord>): void;
  remove(id: string): void;
}

export function createStore(home: Home): Store {
  const path = (id: string) => join(home.folder('prompts'), `${id}.json`);
  return {
    read: (id) => readJson(path(id), promptRecordSchema),
    save(one, to) {
      const record = { ...one.record, ...to };
      writeJson(path(record.id), record);
      forgetKept(path(record.id));
      one.record = record;
    },
    note(one, to) {
      one.record = { ...one.record, ...to };
      keep(path(one.record.id), one.record);
    },
    remove: (id) => discard(path(id)),
  };
}
