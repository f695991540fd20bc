// What Claude Code reads from the stdout of our permission hook.

import type { PromptDecision } from '../../core/prompt.ts';
import type { AskedEvent } from '../event.ts';

export function permissionOutput(asked: AskedEvent, decision: PromptDecision): string {
  return JSON.stringify({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: answerOf(asked, decision) },
  });
}

function answerOf({ kind, input, questions, suggestions }: AskedEvent, decision: PromptDecision): object {
  switch (decision.kind) {
    case 'allow':
      return {
        behavior: 'allow',
        ...(decision.always ? { updatedPermissions: suggestions } : {}),
        // Claude Code ignores an approval that does not repeat the plan.
        ...(kind === 'plan' ? { updatedInput: input } : {}),
      };
    case 'deny':
      return { behavior: 'deny', message: decision.reason || 'The user denied this.' };
    case 'answers': {
      const answers = Object.fromEntries(questions.map(({ question }, at) => [question, decision.answers[at] ?? '']));
      return { behavior: 'allow', updatedInput: { ...input, answers } };
    }
  }
}
