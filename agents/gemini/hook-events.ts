// Translates the input of the hooks of Gemini CLI into our events. Only the fields that we use are checked.

import * as z from 'zod';
import { type AgentEvent, toolInput, wordSchema } from '../event.ts';

const base = { session_id: wordSchema, cwd: wordSchema };

const inputs = {
  SessionStart: z.object({ ...base, source: wordSchema.optional() }),
  BeforeAgent: z.object({ ...base, prompt: z.string() }),
  BeforeTool: z.object({ ...base, tool_name: wordSchema, tool_input: toolInput.catch({}) }),
  Notification: z.object({ ...base, notification_type: wordSchema.optional(), message: z.string().catch('') }),
  AfterAgent: z.object({ ...base, prompt_response: z.string().catch('') }),
  SessionEnd: z.object({ ...base, reason: wordSchema.optional() }),
};

const named = z.object({ hook_event_name: z.string() });

/** Undefined for an event that we do not use. Throws if a field is wrong. */
export function readGeminiHook(json: unknown): AgentEvent | undefined {
  const { hook_event_name: name } = named.parse(json);
  switch (name) {
    case 'SessionStart': {
      const { source, ...input } = inputs.SessionStart.parse(json);
      return { ...placeOf(input), event: 'started', ...(source ? { source } : {}) };
    }
    case 'BeforeAgent': {
      const input = inputs.BeforeAgent.parse(json);
      return { ...placeOf(input), event: 'submitted', prompt: withoutFiles(input.prompt) };
    }
    case 'BeforeTool': {
      const input = inputs.BeforeTool.parse(json);
      return { ...placeOf(input), event: 'tool', ...inOurWords(input.tool_name, input.tool_input) };
    }
    case 'Notification': {
      const input = inputs.Notification.parse(json);
      // The dialog is drawn after this; its card is posted when it is seen.
      return input.notification_type === 'ToolPermission' ? { ...placeOf(input), event: 'waiting' } : undefined;
    }
    case 'AfterAgent': {
      const input = inputs.AfterAgent.parse(json);
      const text = input.prompt_response === NO_TEXT ? '' : input.prompt_response;
      return { ...placeOf(input), event: 'idle', interrupted: false, ...(text.trim() === '' ? {} : { text }) };
    }
    case 'SessionEnd': {
      const input = inputs.SessionEnd.parse(json);
      return { ...placeOf(input), event: 'ended', ...(input.reason ? { reason: input.reason } : {}) };
    }
    default:
      return undefined;
  }
}

/** After an interruption, and when the model failed. */
const NO_TEXT = '[no response text]';

function placeOf({ session_id: session, cwd }: z.infer<z.ZodObject<typeof base>>) {
  return { session, cwd, transcript: '' };
}

const FILES = '\n--- Content from referenced files ---\n';

/** Gemini CLI adds the content of files that the prompt names with "@". */
function withoutFiles(prompt: string): string {
  const at = prompt.indexOf(FILES);
  return at < 0 ? prompt : prompt.slice(0, at);
}

/** The names of its tools, and ours. */
const TOOLS: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  write_file: 'Write',
  replace: 'Edit',
  read_file: 'Read',
  list_directory: 'List',
  glob: 'Glob',
  grep_search: 'Grep',
  search_file_content: 'Grep',
  web_fetch: 'WebFetch',
  google_web_search: 'WebSearch',
  write_todos: 'TodoWrite',
  ask_user: 'AskUserQuestion',
};

function inOurWords(tool: string, input: Record<string, unknown>): { name: string; input: Record<string, unknown> } {
  return { name: Object.hasOwn(TOOLS, tool) ? (TOOLS[tool] ?? tool) : tool, input };
}
