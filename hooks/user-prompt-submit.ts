// UserPromptSubmit: a prompt was submitted, so a turn begins.

import type { UserPromptSubmitInput } from '../claude/hook-input.ts';
import { isAtRest } from './at-rest.ts';
import { type Outcome, type Report, turnOf } from './event.ts';
import { confirmPrompts } from './receipts.ts';

export async function userPromptSubmit(
  input: UserPromptSubmitInput,
  report: Report,
): Promise<Outcome> {
  const { desk, rest, thread, letter, session } = report;
  await confirmPrompts([input.prompt], report);
  // A turn before this one that ended unseen (Esc in the terminal) leaves its message behind.
  await desk.progress.end(turnOf(report), rest, 'interrupted');
  const age = Date.now() - letter.writtenAt;
  if (age < 60_000)
    desk.progress.begin({
      key: turnOf(report),
      rest,
      thread: thread.thread,
      transcript: input.transcript_path,
      promptId: input.prompt_id,
      level: desk.config.progress,
      isAtRest: () => isAtRest(desk.host, session),
    });
  return { state: 'working' };
}
