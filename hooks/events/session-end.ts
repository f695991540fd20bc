// SessionEnd: Claude has exited, unless the user only cleared the conversation.

import type { SessionEndInput } from '../../agents/claude/hook-input.ts';
import { type EventOutcome, type EventReport, turnOf } from './event.ts';

export function handleSessionEnd(input: SessionEndInput, report: EventReport): EventOutcome {
  if (input.reason === 'clear') return { state: 'idle' };
  return {
    state: 'ended',
    say: { text: '⏹️ Claude has exited.', silent: true },
    after: () => report.context.progress.end(turnOf(report), report.rest, 'interrupted'),
  };
}
