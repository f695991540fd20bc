// The letters that are not delivered yet: one folder per pane, with the letters in the order of their names. `drop` writes
// them; only the courier removes them.

import {
  existsSync,
  type FSWatcher,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { reportWatchFailed, tryBestEffort } from '../home/atomic-write.ts';
import { createRiskTurns, type RiskTurns } from './risk-turns.ts';

export type Outbox = ReturnType<typeof openOutbox>;

const BOX = /^\d+\.\d+$/;
const LETTER = /^\d{9,}\.\d+$/;
const ASIDE = 'aside';
const SET_ASIDE = /^\d+-(\d+\.\d+)-(\d{9,}\.\d+)$/;
const SILENT_MS = 86_400_000;
const ASIDE_MS = 30 * 86_400_000;
const MOST_ASIDE = 500;

export function openOutbox(folder: string) {
  /** The paths of the letters that were set aside, oldest first. */
  const aside = (): readonly string[] =>
    namesIn(join(folder, ASIDE))
      .filter((name) => SET_ASIDE.test(name))
      .sort()
      .map((name) => join(folder, ASIDE, name));

  return {
    folder,
    aside,
    /** The panes with waiting letters. */
    boxes: () =>
      namesIn(folder)
        .filter((name) => BOX.test(name))
        .filter((name) => namesIn(join(folder, name)).some((letter) => LETTER.test(letter))),
    /** The paths of a pane's letters, in order. */
    letters: (box: string) =>
      namesIn(join(folder, box))
        .filter((name) => LETTER.test(name))
        .sort()
        .map((name) => join(folder, box, name)),
    /** Adds a letter after those that wait in this pane's folder. */
    add(box: string, letter: string): void {
      if (!BOX.test(box)) throw new Error(`${box} is not the folder of a pane`);
      mkdirSync(join(folder, box), { recursive: true, mode: 0o700 });
      const temp = join(folder, box, `.${process.pid}`);
      try {
        writeFileSync(temp, letter, { mode: 0o600 });
        // Sorts after every number that `drop` uses, so it comes after all letters that wait now.
        let number = Date.now();
        const path = () => join(folder, box, `${number}.${process.pid}`);
        while (existsSync(path())) number++; // our own of the same millisecond
        renameSync(temp, path());
      } catch (error) {
        rmSync(temp, { force: true });
        throw error;
      }
    },
    remove(letter: string): void {
      rmSync(letter, { force: true });
    },
    /** Moves away a letter that can never be delivered, so that it does not block the others. The newest are kept. */
    setAside(letter: string): string {
      const to = join(folder, ASIDE);
      mkdirSync(to, { recursive: true, mode: 0o700 });
      const name = letter.split('/').slice(-2).join('-');
      const path = join(to, `${Date.now()}-${name}`);
      renameSync(letter, path);
      // At once: a hostile host sends letters that cannot be read as fast as it can.
      for (const old of aside().slice(0, -MOST_ASIDE)) rmSync(old, { force: true });
      return path;
    },
    /** Moves a letter that was set aside back to its old place; false if it is not one. */
    putBack(path: string): boolean {
      const [, box, letter] = basename(path).match(SET_ASIDE) ?? [];
      if (box === undefined || letter === undefined) return false;
      mkdirSync(join(folder, box), { recursive: true, mode: 0o700 });
      // A new letter may have the same number by now: unlike a rename, a link never replaces a file.
      linkSync(path, join(folder, box, `${letter}${process.hrtime.bigint()}`));
      rmSync(path, { force: true });
      return true;
    },
    watch: (onLetter: OnLetter) => watchBoxes(folder, onLetter),
    /** Removes the folders of panes without letters for a day, what killed hooks left, and letters set aside that are too old. */
    sweep(): void {
      for (const path of aside())
        if (Date.now() - Number(basename(path).split('-')[0]) > ASIDE_MS) rmSync(path, { force: true });
      for (const box of namesIn(folder).filter((name) => BOX.test(name)))
        try {
          const isSilent = isOld(join(folder, box)); // removing a file changes its time
          for (const name of namesIn(join(folder, box)).filter((one) => one.startsWith('.')))
            if (isOld(join(folder, box, name))) rmSync(join(folder, box, name), { force: true }); // left by a killed hook
          if (isSilent) rmdirSync(join(folder, box));
        } catch {
          // It contains a letter, so it stays.
        }
    },
  };
}

/** `letter` is the path of what is new or was just removed; without it, all letters of the pane may be new. */
type OnLetter = (box: string, letter?: string) => void;

/**
 * Reports panes with a new letter, at once where the system supports it; callers must also poll, to miss none. Uses the system's
 * watcher, one per folder: a library that reads the folder again first would double the delay.
 */
function watchBoxes(folder: string, onLetter: OnLetter): () => void {
  const watchers = new Map<string, FSWatcher>();
  function follow(name: string, onName: (name: string) => void): void {
    if (watchers.has(name)) return;
    try {
      const watcher = watch(join(folder, name), (_, changed) => onName(changed ?? ''));
      watcher.on('error', () => watchers.delete(name));
      watchers.set(name, watcher);
    } catch {
      reportWatchFailed(join(folder, name)); // the courier also polls, so it finds the letters later
    }
  }
  function enter(box: string): void {
    if (!BOX.test(box)) return;
    follow(box, (letter) => {
      if (LETTER.test(letter)) onLetter(box, join(folder, box, letter));
    });
    onLetter(box); // its first letter may be older than the watcher
  }
  follow('', enter);
  for (const box of namesIn(folder)) enter(box);
  return () => {
    for (const watcher of watchers.values()) watcher.close();
  };
}

function isOld(path: string): boolean {
  return Date.now() - statSync(path).mtimeMs > SILENT_MS;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not created yet, or just removed
  }
}

// Remembers which letters were being handled when the process died. A letter that crashes or blocks the process would
// do so after every restart, and later letters would wait forever: after two unfinished attempts it is no longer
// handled.

export interface FailedLetter {
  /** How many earlier attempts began and never ended. */
  readonly unfinished: number;
  /** Call before processing the letter's text: if the process dies now, the letter may be the reason. Waits for its turn. */
  risky(): Promise<void>;
  /** The attempt ended, successful or not: it did not kill the process. */
  end(): void;
}

/**
 * A process that still runs this long after a risky step is waiting for something else, such as the network: the letter is
 * not blamed, and its turn ends, so that no other letter waits for the server with it.
 */
const ANSWERING_MS = 2_000;
const FOLDER = 'begun';

export function openFailedLetters(outbox: string, turns: RiskTurns = createRiskTurns()) {
  const folder = join(outbox, FOLDER);
  return {
    begin(letter: string): FailedLetter {
      const [box = '', name = ''] = letter.split('/').slice(-2);
      const note = join(folder, `${box}-${name}`);
      const unfinished = countIn(note);
      const turn = { isSuspect: unfinished > 0 };
      let timer: NodeJS.Timeout | undefined;
      let isNoted = false;
      // A full or read-only disk must not prevent the delivery.
      const restore = () =>
        tryBestEffort(note, () => {
          isNoted = false;
          if (unfinished === 0) rmSync(note, { force: true });
          else write(note, unfinished);
        });
      return {
        unfinished,
        async risky() {
          await turns.take(turn);
          clearTimeout(timer);
          if (!isNoted)
            isNoted = tryBestEffort(note, () => {
              mkdirSync(folder, { recursive: true, mode: 0o700 });
              write(note, unfinished + 1);
            });
          timer = setTimeout(() => {
            restore();
            turns.giveBack(turn);
          }, ANSWERING_MS).unref();
        },
        end() {
          clearTimeout(timer);
          if (existsSync(letter)) restore();
          else tryBestEffort(note, () => rmSync(note, { force: true }));
          turns.giveBack(turn);
        },
      };
    },
    /** Removes the notes of letters that no longer exist. */
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
