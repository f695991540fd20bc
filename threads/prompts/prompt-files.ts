// The records of prompts on the disk.

import { join } from 'node:path';
import type { Home } from '../../home/home.ts';
import { cancelPendingWrite, readJson, removeBestEffort, writeBestEffort, writeJson } from '../../home/whole-file.ts';
import { type OpenPrompt, type PromptRecord, promptRecordSchema } from './prompt-record.ts';

export interface PromptFiles {
  read(id: string): PromptRecord | undefined;
  /** On the disk before it counts. */
  save(one: OpenPrompt, to: Partial<PromptRecord>): void;
  /** Memory counts; it is written as soon as the disk has room. */
  note(one: OpenPrompt, to: Partial<PromptRecord>): void;
  remove(id: string): void;
}

export function createPromptFiles(home: Home): PromptFiles {
  const path = (id: string) => join(home.folder('prompts'), `${id}.json`);
  return {
    read: (id) => readJson(path(id), promptRecordSchema),
    save(one, to) {
      const record = { ...one.record, ...to };
      writeJson(path(record.id), record);
      cancelPendingWrite(path(record.id));
      one.record = record;
    },
    note(one, to) {
      one.record = { ...one.record, ...to };
      writeBestEffort(path(one.record.id), one.record);
    },
    remove: (id) => removeBestEffort(path(id)),
  };
}
