// SessionEnd: Claude has left the pane, unless it only cleared its conversation.

import type { SessionEndInput } from '../claude/hook-input.ts';
import type { Outcome, Report } from './event.ts';

export function sessionEnd(input: SessionEndInput, { desk, rest, thread }: Report): Outcome {
  if (input.reason === 'clear') return { state: 'idle' };
  return {
    state: 'ended',
    say: { text: '⏹️ Claude has exited.', silent: true },
    after: () => desk.progress.end(thread.thread, rest, 'interrupted'),
  };
}
