// SessionStart: Claude runs in this pane now. After /clear and compaction the conversation is new, but nothing is posted,
// because the thread continues.

import type { SessionStartInput } from '../../agents/claude/hook-input.ts';
import type { EventOutcome } from './event.ts';

export function handleSessionStart(input: SessionStartInput): EventOutcome {
  if (input.source === 'clear' || input.source === 'compact') return { state: 'idle' };
  const how = input.source === 'resume' ? 'resumed' : 'started';
  return { state: 'idle', say: { text: `▶️ Claude ${how}.`, silent: true } };
}
