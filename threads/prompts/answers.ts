// Gives an answer to the hook that waits for it: a file that the hook claims by renaming it. The bell wakes the hook; a
// bell that nobody reads means that the hook is gone.

import { closeSync, constants, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Home } from '../../home/home.ts';
import { writeWhole } from '../../home/whole-file.ts';

export interface HookAnswers {
  /** 'taken': the hook has it. 'gone': nobody waits, and nobody will take it. Safe to repeat. */
  give(id: string, answer: string): Promise<'taken' | 'gone'>;
  /** Lets the hook leave without a word. */
  release(id: string): void;
  isWaiting(id: string): boolean;
  /** Removes what is left of a prompt that is over. */
  clear(id: string): void;
}

const LOOK_MS = 10;
const RING_AGAIN_MS = 500;
const TAKEN_WITHIN_MS = 8_000;

export function createHookAnswers(home: Home): HookAnswers {
  const path = (id: string, suffix = '') => join(home.folder('answers'), `${id}${suffix}`);

  /** False if nobody listens. */
  function ring(id: string): boolean {
    try {
      const bell = openSync(path(id, '.bell'), constants.O_WRONLY | constants.O_NONBLOCK);
      try {
        writeSync(bell, '\n');
      } finally {
        closeSync(bell);
      }
      return true;
    } catch (error) {
      // EAGAIN: the bell is full of rings that the hook has not read yet.
      return (error as NodeJS.ErrnoException).code === 'EAGAIN';
    }
  }

  function put(id: string, answer: string): void {
    try {
      if (!existsSync(path(id))) writeWhole(path(id), answer);
    } catch {
      // A full disk: an answer is tried again, and without one the hook ends when the agent does.
    }
  }

  return {
    isWaiting: ring,
    async give(id, answer) {
      let rungAt = 0;
      for (const began = Date.now(); Date.now() - began < TAKEN_WITHIN_MS; await sleep(LOOK_MS)) {
        if (existsSync(path(id, '.taken'))) return 'taken';
        if (Date.now() - rungAt < RING_AGAIN_MS) continue;
        rungAt = Date.now();
        put(id, answer);
        if (!ring(id)) break;
      }
      withdraw(path(id));
      return existsSync(path(id, '.taken')) ? 'taken' : 'gone';
    },
    release(id) {
      if (existsSync(path(id, '.taken')) || !ring(id)) return;
      put(id, '');
      ring(id);
    },
    clear(id) {
      // A slow hook has not taken its answer yet, or has not read it yet. The sweep removes what is left of it.
      if (ring(id)) return;
      for (const suffix of ['', '.taken', '.withdrawn']) rmSync(path(id, suffix), { force: true });
      if (!ring(id)) rmSync(path(id, '.bell'), { force: true });
    },
  };
}

/** The same rename that the hook uses: only one of the two succeeds. */
function withdraw(path: string): void {
  try {
    renameSync(path, `${path}.withdrawn`);
    rmSync(`${path}.withdrawn`, { force: true });
  } catch {
    // The hook has taken it, or there was no room to write it.
  }
}
