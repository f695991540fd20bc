// Remembers which letters were being handled when the process died. A letter that crashes or blocks the process would do so
// after every restart, and later letters would wait forever: after two unfinished attempts it is no longer handled.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tryBestEffort } from '../home/whole-file.ts';

export interface FailedLetter {
  /** How many earlier attempts began and never ended. */
  readonly unfinished: number;
  /** Call before processing the letter's text: if the process dies now, the letter may be the reason. */
  risky(): void;
  /** The attempt ended, successful or not: it did not kill the process. */
  end(): void;
}

interface FailedLetters {
  begin(letter: string): FailedLetter;
  /** Removes the notes of letters that no longer exist. */
  sweep(): void;
}

/** A process that still runs this long after a risky step is waiting for something else, such as the network. */
const ANSWERING_MS = 2_000;
const FOLDER = 'begun';

export function openFailedLetters(outbox: string): FailedLetters {
  const folder = join(outbox, FOLDER);
  return {
    begin(letter) {
      const [box = '', name = ''] = letter.split('/').slice(-2);
      const note = join(folder, `${box}-${name}`);
      const unfinished = countIn(note);
      let timer: NodeJS.Timeout | undefined;
      // A full or read-only disk must not prevent the delivery.
      const restore = () =>
        tryBestEffort(note, () => {
          if (unfinished === 0) rmSync(note, { force: true });
          else write(note, unfinished);
        });
      return {
        unfinished,
        risky() {
          clearTimeout(timer);
          tryBestEffort(note, () => {
            mkdirSync(folder, { recursive: true, mode: 0o700 });
            write(note, unfinished + 1);
          });
          timer = setTimeout(restore, ANSWERING_MS).unref();
        },
        end() {
          clearTimeout(timer);
          if (existsSync(letter)) restore();
          else tryBestEffort(note, () => rmSync(note, { force: true }));
        },
      };
    },
    sweep() {
      for (const name of namesIn(folder))
        if (!existsSync(join(outbox, ...name.split('-'))))
          tryBestEffort(folder, () => rmSync(join(folder, name), { force: true }));
    },
  };
}

function write(note: string, count: number): void {
  writeFileSync(note, `${count}\n`, { mode: 0o600 });
}

function countIn(note: string): number {
  try {
    return Number.parseInt(readFileSync(note, 'utf8'), 10) || 0;
  } catch {
    return 0; // no unfinished attempt
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
