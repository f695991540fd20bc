// PreToolUse, installed for questions and plans only: Claude is about to ask the person something.

import type { PreToolUseInput } from '../claude/hook-input.ts';
import type { Outcome } from './event.ts';

export function preToolUse(_input: PreToolUseInput): Outcome {
  return { state: 'waiting' };
}
