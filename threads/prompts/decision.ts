// Converts what an agent asks into a prompt, and says how a prompt ended.

import type { AskedEvent } from '../../agents/event.ts';
import type { Prompt, PromptDecision } from '../../core/prompt.ts';
import { bold } from '../../core/untrusted-text.ts';
import { escapeText } from './preview.ts';
import type { PromptEnd } from './prompt-record.ts';

export function promptOf({ kind, questions, always }: AskedEvent, tooLarge = false): Prompt {
  if (tooLarge) return { kind: 'too large' };
  if (kind === 'question' && questions.length > 0) return { kind, questions };
  if (kind === 'plan') return { kind };
  return { kind: 'permission', canAlways: always !== undefined };
}

/** The last line of a prompt that is over: who answered what, and where. */
export function promptEndText(prompt: Prompt, ended: PromptEnd, title: string): string {
  switch (ended.kind) {
    case 'answered':
      return '🖥️ Answered in the terminal.';
    case 'exited':
      return `⏹️ ${title} has exited.`;
    case 'called off':
      return '⏹️ Cancelled in the terminal.';
    case 'time is up':
      return '⌛ Not answered here in time. Answer in the terminal, where the dialog is still open.';
    case 'not delivered':
      return '⚠️ Your answer did not reach the agent. Answer in the terminal.';
    case 'abandoned':
      return '⚠️ The agent still asks, but can no longer be answered from here. Answer in the terminal.';
    case 'decided':
      return `${decisionText(prompt, ended.decision)} — ${escapeText(ended.by.name, 60) || 'you'}`;
  }
}

function decisionText(prompt: Prompt, decision: PromptDecision): string {
  switch (decision.kind) {
    case 'allow':
      if (prompt.kind === 'plan') return '✅ **Approved**';
      return decision.always ? '✅ **Always allowed**' : '✅ **Allowed**';
    case 'deny':
      return `⛔ ${bold(prompt.kind === 'plan' ? 'Rejected' : 'Denied')}${decision.reason === '' ? '' : `: ${escapeText(decision.reason, 250)}`}`;
    case 'answers':
      return `✅ ${bold(escapeText(decision.answers.join(' · '), 250))}`;
  }
}
