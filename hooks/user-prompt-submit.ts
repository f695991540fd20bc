// UserPromptSubmit: a prompt was submitted, so a turn begins.

import type { UserPromptSubmitInput } from '../claude/hook-input.ts';
import { isAtRest } from './at-rest.ts';
import { type Outcome, type Report, turnOf } from './event.ts';

export async function userPromptSubmit(
  input: UserPromptSubmitInput,
  report: Report,
): Promise<Outcome> {
  const { context, rest, letter, session, thread } = report;
  context.receipts.submitted(thread.thread, [input.prompt], letter);
  context.shown.begin(input.session_id, input.prompt_id ?? letter.id);
  // If the previous turn ended without a report (Esc in the terminal), its progress message is still there.
  await context.progress.end(turnOf(report), rest, 'interrupted');
  const age = Date.now() - letter.writtenAt;
  if (age < 60_000)
    context.progress.begin({
      key: turnOf(report),
      rest,
      thread: thread.thread,
      transcript: input.transcript_path,
      promptId: input.prompt_id,
      level: context.config.progress,
      ...(context.hosts.isLocal(context.host.name) ? {} : { files: context.files }),
      isAtRest: () => isAtRest(context.host, session),
    });
  return { state: 'working' };
}
