// The prompts that hooks of this machine wait for, one file each, gone when the hook leaves.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, writeJson } from './files.ts';
import type { Home } from './home.ts';

const schema = z.object({
  id: z.string(),
  pid: z.number(),
  thread: z.string(),
  claudeSession: z.string(),
  at: z.number(),
});
export type OpenPrompt = Readonly<z.output<typeof schema>>;

/** Gives the way to take it back. */
export function openPrompt(home: Home, prompt: OpenPrompt): () => void {
  const path = join(home.folder('questions'), `${prompt.id}.json`);
  writeJson(path, prompt);
  return () => rmSync(path, { force: true });
}

/** Those whose hook still runs; what a killed one left is cleared away. */
export function openPrompts(home: Home): readonly OpenPrompt[] {
  const folder = home.folder('questions');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => {
      const prompt = readJson(join(folder, name), schema);
      if (prompt !== undefined && isAlive(prompt.pid)) return [prompt];
      rmSync(join(folder, name), { force: true });
      return [];
    });
}

export function isPromptOpen(home: Home, id: string): boolean {
  const prompt = readJson(join(home.folder('questions'), `${id}.json`), schema);
  return prompt !== undefined && isAlive(prompt.pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
