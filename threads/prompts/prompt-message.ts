// What a prompt's message shows: while it is open, and when it is over.

import type { PermissionRequestInput } from '../../agents/claude/hook-input.ts';
import type { Prompt, PromptProgress } from '../../core/prompt.ts';
import type { ShownPrompt } from '../../core/prompt-answer.ts';
import { insideFence } from '../../core/untrusted-text.ts';
import type { FileUpload } from '../../discord/rest.ts';
import { promptEndText } from './decision.ts';
import { escapeCode, escapeText } from './escape-text.ts';
import { jsonText } from './preview.ts';
import type { OpenPrompt, PromptEnd } from './prompt-record.ts';
import { type PromptText, permissionText, planText, questionText } from './prompt-text.ts';

export function contentOf(prompt: Prompt, input: PermissionRequestInput, progress: PromptProgress) {
  const { text, hint } = shownOf(prompt, input, progress);
  return `${text}\n${hint}`;
}

export function filesOf(prompt: Prompt, input: PermissionRequestInput): readonly FileUpload[] {
  return shownOf(prompt, input, { chosen: [] }).files;
}

export function endText(
  prompt: Prompt,
  input: PermissionRequestInput,
  progress: PromptProgress,
  ended: PromptEnd,
  headless: boolean,
): string {
  return `${shownOf(prompt, input, progress).text}\n${lastLine(prompt, ended, headless)}`;
}

/** As a text may answer it; nothing if it is not on the screen. */
export function asShown({ record, prompt }: OpenPrompt): readonly ShownPrompt[] {
  if (record.ended !== undefined || record.message === 'deleted') return [];
  const { id, message: messageId, chosen } = record;
  const asked = prompt.kind === 'question' ? prompt.questions[chosen.length] : undefined;
  const labels = asked?.options.map(({ label }) => label) ?? [];
  return [{ id, messageId, question: asked === undefined ? 0 : chosen.length + 1, labels }];
}

function lastLine(prompt: Prompt, ended: PromptEnd, headless: boolean): string {
  if (headless && ended.kind === 'called off') return '⏹️ The agent was stopped.';
  if (headless && ended.kind === 'time is up') return '⌛ Nobody answered: denied.';
  return promptEndText(prompt, ended);
}

function shownOf(prompt: Prompt, input: PermissionRequestInput, progress: PromptProgress): PromptText {
  switch (prompt.kind) {
    case 'permission':
      return permissionText(input.tool_name, input.tool_input, input.cwd, input.permission_suggestions);
    case 'plan': {
      // Whoever approves it approves all of it, such as commands that it may run; in front, so that no length hides it.
      const { plan, ...others } = input.tool_input;
      const more = typeof plan === 'string' ? others : input.tool_input;
      const text = typeof plan === 'string' ? plan : '';
      const besides = insideFence(jsonText(more), 'json');
      return planText(Object.keys(more).length === 0 ? text : `${besides}\n${text}`);
    }
    case 'too large':
      return {
        text: `🔔 Claude asks for something that is too large to be shown here: **${escapeText(input.tool_name, 100)}** in ${escapeCode(input.cwd, 200)}`,
        hint: '-# What cannot be read whole can only be denied here. To allow it, answer in the terminal.',
        files: [],
      };
    case 'question':
      return questionText(prompt.questions, progress);
  }
}
