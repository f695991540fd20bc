// PreToolUse, installed only for questions and plans: Claude is about to ask the user something.

import type { PreToolUseInput } from '../claude/hook-input.ts';
import type { Outcome } from './event.ts';

export function preToolUse(_input: PreToolUseInput): Outcome {
  return { state: 'waiting' };
}
