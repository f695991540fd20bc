// A question that a program asks (`threadmux ask`, the tool ask_person), in the shape of a prompt of the agent. It has no dialog in the terminal.

import * as z from 'zod';
import type { PermissionRequestInput } from '../../agents/claude/hook-input.ts';
import type { PromptQuestion } from '../../core/prompt.ts';

/** In place of the agent's tool. No agent has a tool with a space in its name. */
const TOOL = 'threadmux ask';

const askedSchema = z.object({ question: z.string(), options: z.array(z.string()), seconds: z.number() });

export function askedInput(asked: {
  readonly question: string;
  readonly options: readonly string[];
  readonly seconds: number;
  readonly claudeSession: string;
  readonly transcript: string;
  readonly cwd: string;
}): PermissionRequestInput {
  const { question, options, seconds } = asked;
  return {
    ...{ hook_event_name: 'PermissionRequest', session_id: asked.claudeSession, transcript_path: asked.transcript },
    ...{ cwd: asked.cwd, tool_name: TOOL, tool_input: { question, options, seconds }, permission_suggestions: [] },
  };
}

export function isOfProgram({ tool_name: tool }: Pick<PermissionRequestInput, 'tool_name'>): boolean {
  return tool === TOOL;
}

/** Whether this conversation of the agent asks. */
export function isAskedBy(claudeSession: string, input: PermissionRequestInput): boolean {
  return input.session_id === claudeSession && !isOfProgram(input);
}

/** Undefined for a prompt of the agent. */
export function programQuestion(input: PermissionRequestInput): PromptQuestion | undefined {
  const asked = isOfProgram(input) ? askedSchema.safeParse(input.tool_input).data : undefined;
  if (asked === undefined) return undefined;
  const options = asked.options.map((label) => ({ label, description: '' }));
  return {
    ...{ question: asked.question, header: 'Question', multiSelect: false, options },
    onlyOptions: options.length > 0,
  };
}

/** How long it waits for an answer. */
export function programPatienceMs(input: PermissionRequestInput): number | undefined {
  const asked = isOfProgram(input) ? askedSchema.safeParse(input.tool_input).data : undefined;
  return asked && asked.seconds * 1_000;
}
