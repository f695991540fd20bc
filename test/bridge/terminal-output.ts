// What terminals print into their threads, and which tmux sessions there are.

import { expect, vi } from 'vitest';
import type { Machine } from '../support/hook-process.ts';
import { type Setting, WAIT } from './bridge-setup.ts';

/** The content of all code blocks in a thread, as it was printed. */
export async function printed({ answers }: Pick<Setting, 'answers'>, thread: string): Promise<string> {
  const blocks = (await answers(thread)).filter(({ content }) => content.startsWith('```'));
  return blocks.map(({ content }) => content.replace(/^```text\n|```$/g, '')).join('');
}

export const untilPrinted = (setting: Pick<Setting, 'answers'>, thread: string, text: string) =>
  vi.waitFor(async () => expect(await printed(setting, thread)).toContain(text), WAIT);

/** Empty if no session runs, because then there is no server to ask. */
export function sessions({ tmux }: Pick<Machine, 'tmux'>): readonly string[] {
  try {
    return tmux.call('list-sessions', '-F', '#{session_name}').split('\n');
  } catch {
    return [];
  }
}
