// UserPromptSubmit: a prompt was submitted, so a turn begins.

import type { UserPromptSubmitInput } from '../../agents/claude/hook-input.ts';
import { isIdle } from '../is-idle.ts';
import { type EventOutcome, type EventReport, turnOf } from './event.ts';

export async function handleUserPromptSubmit(input: UserPromptSubmitInput, report: EventReport): Promise<EventOutcome> {
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
      isAtRest: () => isIdle(context.host, session),
    });
  return { state: 'working' };
}
