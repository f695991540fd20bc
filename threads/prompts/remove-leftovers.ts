// What prompts leave on the disk: their records, and the bells and answers of hooks that were killed.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../core/log.ts';
import type { Home } from '../../home/home.ts';
import type { HookAnswers } from './answers.ts';

/** A late tap is told what became of the prompt, this long. */
const RECORD_KEPT_MS = 24 * 3_600_000;
const ANSWER_KEPT_MS = 3_600_000;

/** Removes what is old and belongs to no prompt that is open and to no hook that waits. */
export function sweepPrompts(home: Home, isOpen: (id: string) => boolean, answers: HookAnswers, log: Log): void {
  const now = Date.now();
  const remove = ({ path }: { readonly path: string }) => rmSync(path, { force: true });
  try {
    filesIn(home.folder('prompts'))
      .filter(({ id, at }) => now - at > RECORD_KEPT_MS && !isOpen(id))
      .forEach(remove);
    filesIn(home.folder('answers'))
      .filter(({ id, at }) => now - at > ANSWER_KEPT_MS && !isOpen(id) && !answers.isWaiting(id))
      .forEach(remove);
  } catch (error) {
    log.warn('sweeping prompts', { because: (error as Error).message });
  }
}

function filesIn(folder: string) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    return at === undefined ? [] : [{ id: name.split('.')[0] ?? '', path, at }];
  });
}
