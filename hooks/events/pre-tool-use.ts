// PreToolUse, installed only for questions and plans: Claude is about to ask the user something.

import type { PreToolUseInput } from '../../agents/claude/hook-input.ts';
import type { EventOutcome } from './event.ts';

export function handlePreToolUse(_input: PreToolUseInput): EventOutcome {
  return { state: 'waiting' };
}
