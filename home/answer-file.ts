// Answers on their way to a waiting hook: one file each, named after the prompt they are for. The
// hook takes only those that carry its own random id.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';

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

/** Takes what has come for this prompt, oldest first; a file that lies about its prompt is thrown away. */
export function takeAnswers(home: Home, prompt: string): readonly AnswerFile[] {
  const folder = home.folder('answers');
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${prompt}.`) && name.endsWith('.json'))
    .sort()
    .flatMap((name) => {
      const answer = readJson(join(folder, name), answerSchema);
      rmSync(join(folder, name), { force: true });
      return answer?.prompt === prompt ? [answer] : [];
    });
}
