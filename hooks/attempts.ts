// Which letters were being handled when the process died. A letter that freezes or crashes us would do so after every restart,
// and those behind it would wait for ever: the second time it is suspected, the third time it is not handled any more.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../home/keep.ts';

export interface Attempt {
  /** How many earlier attempts were begun and never ended. */
  readonly unfinished: number;
  /** Something is about to be done with the letter's text: if we die now, the letter may be why. */
  risky(): void;
  /** It ended, well or not: this attempt did not kill us. */
  end(): void;
}

interface Attempts {
  begin(letter: string): Attempt;
  /** Forgets letters that are gone. */
  sweep(): void;
}

/** A process that answers for so long after a risky step waits for something else, such as the network. */
const ANSWERING_MS = 2_000;
const FOLDER = 'begun';

export function openAttempts(outbox: string): Attempts {
  const folder = join(outbox, FOLDER);
  return {
    begin(letter) {
      const [box = '', name = ''] = letter.split('/').slice(-2);
      const note = join(folder, `${box}-${name}`);
      const unfinished = countIn(note);
      let timer: NodeJS.Timeout | undefined;
      // A disk that is full or read-only must not keep a letter from being delivered.
      const restore = () =>
        attempt(note, () => {
          if (unfinished === 0) rmSync(note, { force: true });
          else write(note, unfinished);
        });
      return {
        unfinished,
        risky() {
          clearTimeout(timer);
          attempt(note, () => {
            mkdirSync(folder, { recursive: true, mode: 0o700 });
            write(note, unfinished + 1);
          });
          timer = setTimeout(restore, ANSWERING_MS).unref();
        },
        end() {
          clearTimeout(timer);
          if (existsSync(letter)) restore();
          else attempt(note, () => rmSync(note, { force: true }));
        },
      };
    },
    sweep() {
      for (const name of namesIn(folder))
        if (!existsSync(join(outbox, ...name.split('-'))))
          attempt(folder, () => rmSync(join(folder, name), { force: true }));
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
    return 0; // no attempt was cut off
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
