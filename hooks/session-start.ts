// SessionStart: Claude runs in this pane now. After /clear and compaction the conversation is a new
// one, but for the thread nothing has begun or ended.

import type { SessionStartInput } from '../claude/hook-input.ts';
import type { Outcome } from './event.ts';

export function sessionStart(input: SessionStartInput): Outcome {
  if (input.source === 'clear' || input.source === 'compact') return { state: 'idle' };
  const how = input.source === 'resume' ? 'resumed' : 'started';
  return { state: 'idle', say: { text: `▶️ Claude ${how}.`, silent: true } };
}
