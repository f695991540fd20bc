// Converts Claude Code's request into a prompt, and a decision into the output that Claude Code reads.

import * as z from 'zod';
import type { PermissionRequestInput } from '../../agents/claude/hook-input.ts';
import type { Prompt, PromptDecision } from '../../core/prompt.ts';
import { escapeText } from './preview.ts';
import { programQuestion } from './program-question.ts';
import type { PromptEnd } from './prompt-record.ts';

const questionsSchema = z.object({
  questions: z
    .array(
      z.object({
        question: z.string(),
        header: z.string().default('Question'),
        multiSelect: z.boolean().default(false),
        options: z
          .array(
            z.object({
              label: z.string(),
              description: z.string().default(''),
              preview: z.string().optional().catch(undefined),
            }),
          )
          .default([]),
      }),
    )
    .min(1),
});

export function promptOf(input: PermissionRequestInput, tooLarge = false): Prompt {
  if (tooLarge) return { kind: 'too large' };
  const asked = programQuestion(input);
  if (asked !== undefined) return { kind: 'question', questions: [asked] };
  if (input.tool_name === 'AskUserQuestion') {
    const parsed = questionsSchema.safeParse(input.tool_input);
    if (parsed.success) return { kind: 'question', questions: parsed.data.questions };
  }
  if (input.tool_name === 'ExitPlanMode') return { kind: 'plan' };
  return { kind: 'permission', canAlways: input.permission_suggestions.length > 0 };
}

/** What Claude Code reads from our stdout. */
export function decisionOutput(input: PermissionRequestInput, prompt: Prompt, decision: PromptDecision): string {
  return JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: answerOf(input, prompt, decision),
    },
  });
}

function answerOf(input: PermissionRequestInput, prompt: Prompt, decision: PromptDecision): object {
  switch (decision.kind) {
    case 'allow':
      return {
        behavior: 'allow',
        ...(decision.always ? { updatedPermissions: input.permission_suggestions } : {}),
      };
    case 'deny':
      return { behavior: 'deny', message: decision.reason || 'The user denied this.' };
    case 'answers': {
      const questions = prompt.kind === 'question' ? prompt.questions : [];
      const answers = Object.fromEntries(questions.map(({ question }, at) => [question, decision.answers[at] ?? '']));
      return { behavior: 'allow', updatedInput: { ...input.tool_input, answers } };
    }
  }
}

/** The last line of a prompt that is over: who answered what, and where. */
export function promptEndText(prompt: Prompt, ended: PromptEnd): string {
  switch (ended.kind) {
    case 'answered':
      return '🖥️ Answered in the terminal.';
    case 'exited':
      return '⏹️ Claude has exited.';
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
      return `⛔ **${prompt.kind === 'plan' ? 'Rejected' : 'Denied'}**${decision.reason === '' ? '' : `: ${escapeText(decision.reason, 250)}`}`;
    case 'answers':
      return `✅ **${escapeText(decision.answers.join(' · '), 250)}**`;
  }
}
