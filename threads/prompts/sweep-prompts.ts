// Removes old records of prompts, and bells and answers of hooks that were killed.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../core/log.ts';
import type { Home } from '../../home/home.ts';
import type { HookAnswers } from './hand-answer-to-hook.ts';

interface PromptSweeps {
  now(): void;
  /** Called for each new prompt. */
  added(): void;
  close(): void;
}

interface SweepOptions {
  readonly home: Home;
  readonly log: Log;
  readonly answers: HookAnswers;
  readonly isOpen: (id: string) => boolean;
  readonly sweepMs?: number;
}

const SWEEP_MS = 3_600_000;
const SWEEP_AFTER = 500; // prompts

export function startPromptSweeps({ home, log, answers, isOpen, sweepMs = SWEEP_MS }: SweepOptions): PromptSweeps {
  const now = () => sweepPrompts(home, isOpen, answers, log);
  const timer = setInterval(now, sweepMs).unref();
  let count = 0;
  return {
    now,
    added() {
      if (++count % SWEEP_AFTER === 0) now();
    },
    close: () => clearInterval(timer),
  };
}

/** For this long, a late tap is told how the prompt ended. */
const RECORD_KEPT_MS = 24 * 3_600_000;
/** A host that asks again and again must not fill the disk, and all records are read at once. */
const MOST_RECORDS = 1_000;
const ANSWER_KEPT_MS = 3_600_000;

/** Removes old files that belong to no open prompt and no waiting hook. */
export function sweepPrompts(home: Home, isOpen: (id: string) => boolean, answers: HookAnswers, log: Log): void {
  const now = Date.now();
  const remove = ({ path }: { readonly path: string }) => rmSync(path, { force: true });
  try {
    filesIn(home.folder('prompts'))
      .filter(({ id }) => !isOpen(id))
      .sort((a, b) => b.at - a.at)
      .filter(({ at }, place) => place >= MOST_RECORDS || now - at > RECORD_KEPT_MS)
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
