// Limits what the open prompts of one host cost: a hostile host could keep us busy with reading long transcripts and looking at its
// panes, every second for each prompt.

import type { FileSource } from '../../home/file-source.ts';

export type LookBudget = ReturnType<typeof openLookBudget>;

/** More prompts than this share the looks of so many. */
const LOOKS = 4;
const BYTES_PER_SECOND = 4 * 2 ** 20;

export function openLookBudget() {
  let followed = 0;
  let isReading = false;
  let freeAt = 0;
  return {
    /** Whether a prompt that is looked at regularly is due; with many prompts, each is due less often. */
    follow() {
      followed++;
      let ticks = 0;
      return {
        isDue: () => ticks++ % Math.ceil(followed / LOOKS) === 0,
        stop() {
          followed--;
        },
      };
    },
    /** Runs `act` with files whose bytes are counted, one at a time; undefined if too much was read a moment ago. */
    async read<T>(files: FileSource, act: (files: FileSource) => Promise<T>): Promise<T | undefined> {
      if (isReading || Date.now() < freeAt) return undefined;
      isReading = true;
      let bytes = 0;
      try {
        return await act(countingFiles(files, (more) => (bytes += more)));
      } finally {
        isReading = false;
        freeAt = Date.now() + (1_000 * bytes) / BYTES_PER_SECOND;
      }
    },
  };
}

function countingFiles(files: FileSource, onRead: (bytes: number) => void): FileSource {
  return {
    async open(path) {
      const file = await files.open(path);
      if (file === undefined) return undefined;
      return {
        ...file,
        read(from, length) {
          onRead(length);
          return file.read(from, length);
        },
      };
    },
  };
}
