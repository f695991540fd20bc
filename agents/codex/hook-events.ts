// Translates the input of Codex's hooks (a Codex without a server) into our events. Codex adds fields in newer versions; only those
// that we use are checked.

import * as z from 'zod';
import type { PromptDecision } from '../../core/prompt.ts';
import { type AgentEvent, type AskedEvent, wordSchema } from '../event.ts';

const base = { session_id: wordSchema, cwd: wordSchema, turn_id: wordSchema.optional() };
/** A list or a text is shown, too, before it is allowed. */
const toolInput = z
  .record(z.string(), z.unknown())
  .or(
    z.unknown().transform((input): Record<string, unknown> => (input === undefined || input === null ? {} : { input })),
  );
const tool = { tool_name: wordSchema, tool_input: toolInput };

const inputs = {
  SessionStart: z.object({ ...base, source: wordSchema.optional(), model: wordSchema.optional() }),
  UserPromptSubmit: z.object({ ...base, prompt: z.string() }),
  PreToolUse: z.object({ ...base, ...tool }),
  PermissionRequest: z.object({ ...base, ...tool }),
  Stop: z.object({ ...base, last_assistant_message: z.string().nullish() }),
  SessionEnd: z.object({ ...base, reason: wordSchema.optional() }),
};

const named = z.object({ hook_event_name: z.string() });

/** Undefined for an event that we do not use. Throws if a field is wrong. */
export function readCodexHook(json: unknown): AgentEvent | undefined {
  const { hook_event_name: name } = named.parse(json);
  switch (name) {
    case 'SessionStart': {
      const { source, model, ...input } = inputs.SessionStart.parse(json);
      return { ...placeOf(input), event: 'started', ...(source ? { source } : {}), ...(model ? { model } : {}) };
    }
    case 'UserPromptSubmit': {
      const input = inputs.UserPromptSubmit.parse(json);
      return { ...placeOf(input), event: 'submitted', prompt: input.prompt };
    }
    case 'PreToolUse': {
      const input = inputs.PreToolUse.parse(json);
      // A question is on the screen, which tells it.
      if (input.tool_name.startsWith('request_user_input')) return undefined;
      return { ...placeOf(input), event: 'tool', ...toolWords(input.tool_name, input.tool_input) };
    }
    case 'PermissionRequest': {
      const input = inputs.PermissionRequest.parse(json);
      const { name: tool, input: shown } = toolWords(input.tool_name, input.tool_input);
      return {
        ...placeOf(input),
        event: 'asked',
        kind: 'permission',
        tool,
        input: shown,
        questions: [],
        [BY_HOOK]: true,
      };
    }
    case 'Stop': {
      const input = inputs.Stop.parse(json);
      const text = input.last_assistant_message ?? '';
      return { ...placeOf(input), event: 'idle', interrupted: false, ...(text === '' ? {} : { text }) };
    }
    case 'SessionEnd': {
      const input = inputs.SessionEnd.parse(json);
      return { ...placeOf(input), event: 'ended', ...(input.reason ? { reason: input.reason } : {}) };
    }
    default:
      return undefined;
  }
}

/** Marks a prompt that a hook waits for: its answer is the hook's output. */
const BY_HOOK = 'byHook';

/** What the hook prints; undefined if it was not a hook that asked. A hook cannot allow for ever. */
export function hookAnswer(asked: AskedEvent, decision: PromptDecision): string | undefined {
  if (asked[BY_HOOK] !== true || decision.kind === 'answers') return undefined;
  const behavior =
    decision.kind === 'allow'
      ? { behavior: 'allow' }
      : { behavior: 'deny', message: decision.reason === '' ? 'The user denied it.' : decision.reason };
  return JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: behavior } });
}

function placeOf({ session_id: session, cwd, turn_id: turn }: z.infer<z.ZodObject<typeof base>>) {
  return { session, cwd, transcript: '', ...(turn === undefined ? {} : { turn }) };
}

/** A patch is the command of a tool of its own. */
function toolWords(name: string, input: Record<string, unknown>): { name: string; input: Record<string, unknown> } {
  if (name !== 'apply_patch' || typeof input.command !== 'string') return { name, input };
  const { command, ...others } = input;
  const [, path] = /^\*\*\* (?:Add|Update|Delete) File: (.*)$/mu.exec(command) ?? [];
  return { name: 'Edit', input: { ...others, ...(path === undefined ? {} : { file_path: path }), diff: command } };
}
