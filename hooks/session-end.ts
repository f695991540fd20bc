// SessionEnd: Claude has exited, unless the user only cleared the conversation.

import type { SessionEndInput } from '../claude/hook-input.ts';
import { type Outcome, type Report, turnOf } from './event.ts';

export function sessionEnd(input: SessionEndInput, report: Report): Outcome {
  if (input.reason === 'clear') return { state: 'idle' };
  return {
    state: 'ended',
    say: { text: '⏹️ Claude has exited.', silent: true },
    after: () => report.context.progress.end(turnOf(report), report.rest, 'interrupted'),
  };
}
