// The letters not yet delivered: one folder a pane, and in it the letters in the order of their
// names. `drop` writes them; only the courier takes them away.

import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface Outbox {
  readonly folder: string;
  /** The panes that have letters waiting. */
  boxes(): readonly string[];
  /** The paths of a pane's letters, in order. */
  letters(box: string): readonly string[];
  remove(letter: string): void;
  /** Keeps a letter that can never be delivered, out of the way of the others. */
  setAside(letter: string): string;
}

const BOX = /^\d+\.\d+$/;
const LETTER = /^\d{9,}\.\d+$/;
const ASIDE = 'aside';

export function openOutbox(folder: string): Outbox {
  return {
    folder,
    boxes: () =>
      namesIn(folder)
        .filter((name) => BOX.test(name))
        .filter((name) => namesIn(join(folder, name)).some((letter) => LETTER.test(letter))),
    letters: (box) =>
      namesIn(join(folder, box))
        .filter((name) => LETTER.test(name))
        .sort()
        .map((name) => join(folder, box, name)),
    remove(letter) {
      rmSync(letter, { force: true });
    },
    setAside(letter) {
      const to = join(folder, ASIDE);
      mkdirSync(to, { recursive: true, mode: 0o700 });
      const name = letter.split('/').slice(-2).join('-');
      const path = join(to, `${Date.now()}-${name}`);
      renameSync(letter, path);
      return path;
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not made yet, or gone a moment ago
  }
}
