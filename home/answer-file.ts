// Answers on their way to a waiting hook: one file each, named after the prompt they are for. The
// hook takes only those that carry its own random id; who brought one sees what became of it.

import { existsSync, readdirSync, renameSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';
import { watchFolder } from './watch-folder.ts';

export const answerSchema = z.object({
  prompt: z.string(),
  action: z.string(),
  values: z.array(z.string()),
  text: z.string(),
  by: z.object({ id: z.string(), name: z.string() }),
});
export type AnswerFile = Readonly<z.output<typeof answerSchema>>;

/** `order` is the interaction or message it came with: ids that grow. */
export function answerName(prompt: string, order: string): string {
  return `${prompt}.${order.padStart(20, '0')}.json`;
}

export function putAnswer(home: Home, order: string, answer: AnswerFile): string {
  const path = join(home.folder('answers'), answerName(answer.prompt, order));
  writeJson(path, answer);
  return path;
}

/** Undefined: it still lies there. */
export function answerFate(path: string): 'taken' | 'refused' | undefined {
  if (existsSync(path)) return undefined;
  if (!existsSync(refused(path))) return 'taken';
  rmSync(refused(path), { force: true });
  return 'refused';
}

/** False: too late, the hook has it. */
export function withdrawAnswer(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

export interface Arrived {
  /** Undefined: the file does not hold an answer to this prompt. */
  readonly answer: AnswerFile | undefined;
  take(): void;
  /** Whoever brought it is told that it changed nothing. */
  refuse(): void;
}

/** What has come for this prompt, oldest first. */
export function arrivedAnswers(home: Home, prompt: string): readonly Arrived[] {
  const folder = home.folder('answers');
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${prompt}.`) && name.endsWith('.json'))
    .sort()
    .map((name) => {
      const path = join(folder, name);
      const answer = readJson(path, answerSchema);
      return {
        answer: answer?.prompt === prompt ? answer : undefined,
        take: () => rmSync(path, { force: true }),
        refuse: () => existsSync(path) && renameSync(path, refused(path)),
      };
    });
}

export interface AnswerWatch {
  /** Resolves when something may have come, at the latest after so long. */
  next(ms: number): Promise<void>;
  wake(): void;
  close(): void;
}

/** Where the system cannot watch the folder, it is looked into every `unwatchedMs`. */
export function watchAnswers(home: Home, unwatchedMs: number): AnswerWatch {
  let news = false;
  let wake = () => {};
  const onChange = () => {
    news = true;
    wake();
  };
  const stop = watchFolder(home.folder('answers'), onChange, unwatchedMs);
  return {
    async next(ms) {
      if (!news)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      news = false;
    },
    wake: onChange,
    close: stop,
  };
}

/** What a bridge left that was killed while it carried something. */
export function clearOldAnswers(home: Home, olderThanMs: number): void {
  const folder = home.folder('answers');
  for (const name of readdirSync(folder)) {
    const stat = statSync(join(folder, name), { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > olderThanMs)
      rmSync(join(folder, name), { force: true });
  }
}

function refused(path: string): string {
  return `${path}.refused`;
}
