// What a prompt's message shows: while it is open, and when it is over.

import type { PermissionRequestInput } from '../../claude/hook-input.ts';
import { insideFence } from '../../core/neutralise.ts';
import type { Progress, Prompt } from '../../core/prompt.ts';
import type { ShownPrompt } from '../../core/prompt-answer.ts';
import type { Upload } from '../../discord/rest.ts';
import { verdictText } from './decision.ts';
import { jsonText } from './preview.ts';
import type { Ended, OpenPrompt } from './record.ts';
import { permissionText, planText, questionText, type Shown } from './text.ts';
import { code, plain } from './words.ts';

export function contentOf(prompt: Prompt, input: PermissionRequestInput, progress: Progress) {
  const { text, hint } = shownOf(prompt, input, progress);
  return `${text}\n${hint}`;
}

export function filesOf(prompt: Prompt, input: PermissionRequestInput): readonly Upload[] {
  return shownOf(prompt, input, { chosen: [] }).files;
}

export function endText(
  prompt: Prompt,
  input: PermissionRequestInput,
  progress: Progress,
  ended: Ended,
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

function lastLine(prompt: Prompt, ended: Ended, headless: boolean): string {
  if (headless && ended.kind === 'called off') return '⏹️ The agent was stopped.';
  if (headless && ended.kind === 'time is up') return '⌛ Nobody answered: denied.';
  return verdictText(prompt, ended);
}

function shownOf(prompt: Prompt, input: PermissionRequestInput, progress: Progress): Shown {
  switch (prompt.kind) {
    case 'permission':
      return permissionText(
        input.tool_name,
        input.tool_input,
        input.cwd,
        input.permission_suggestions,
      );
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
        text: `🔔 Claude asks for something that is too large to be shown here: **${plain(input.tool_name, 100)}** in ${code(input.cwd, 200)}`,
        hint: '-# What cannot be read whole can only be denied here. To allow it, answer in the terminal.',
        files: [],
      };
    case 'question':
      return questionText(prompt.questions, progress);
  }
}
