// The input that Claude Code writes to a hook's stdin. Only the fields that we use are checked; unknown fields are kept, so
// that a newer Claude Code breaks nothing and a permission is answered with its complete input.

import * as z from 'zod';
import { ThreadmuxError } from '../../core/errors.ts';
import { toolInput } from '../event.ts';

/** Ids, names and paths: some of them are kept in memory and on disk, and a hostile host could send megabytes. */
const word = z.string().max(8_192);

const base = {
  session_id: word,
  transcript_path: word,
  cwd: word,
  /** The same for all events of one turn. If one turn answers several prompts, the id of the last one. */
  prompt_id: word.optional(),
  /** Set for a subagent, not for the main agent of the session. */
  agent_id: word.optional(),
  agent_type: word.optional(),
  permission_mode: word.optional(),
};

const tool = { tool_name: word, tool_input: toolInput };

const permissionUpdate = z.looseObject({
  type: z.string(),
  rules: z.array(z.looseObject({ toolName: z.string(), ruleContent: z.string().optional() })).optional(),
  behavior: z.string().optional(),
  mode: z.string().optional(),
  directories: z.array(z.string()).optional(),
  destination: z.string().optional(),
});

const events = {
  Stop: z.looseObject({
    ...base,
    hook_event_name: z.literal('Stop'),
    stop_hook_active: z.boolean().default(false),
    /** The last text block. Missing before 2.1.47: read the transcript. */
    last_assistant_message: z.string().optional(),
  }),
  StopFailure: z.looseObject({
    ...base,
    hook_event_name: z.literal('StopFailure'),
    /** A word such as `rate_limit`, `authentication_failed`, `billing_error`, `server_error`, `unknown`. */
    error: z.string().optional().catch(undefined),
    error_details: z.string().optional().catch(undefined),
    /** Here the error that the terminal shows ("API Error: …"), not a text of the model. */
    last_assistant_message: z.string().optional().catch(undefined),
  }),
  Notification: z.looseObject({
    ...base,
    hook_event_name: z.literal('Notification'),
    message: z.string(),
    title: z.string().optional(),
    notification_type: z.string().optional(),
  }),
  SessionStart: z.looseObject({
    ...base,
    hook_event_name: z.literal('SessionStart'),
    /** `startup`, `resume`, `clear` or `compact`. */
    source: z.string().optional(),
    model: z.string().optional(),
  }),
  SessionEnd: z.looseObject({
    ...base,
    hook_event_name: z.literal('SessionEnd'),
    /** `clear`, `logout`, `prompt_input_exit`, `other`, … */
    reason: z.string().optional(),
  }),
  UserPromptSubmit: z.looseObject({ ...base, hook_event_name: z.literal('UserPromptSubmit'), prompt: z.string() }),
  PreToolUse: z.looseObject({
    ...base,
    ...tool,
    hook_event_name: z.literal('PreToolUse'),
    tool_use_id: z.string().optional(),
  }),
  PermissionRequest: z.looseObject({
    ...base,
    ...tool,
    hook_event_name: z.literal('PermissionRequest'),
    permission_suggestions: z.array(permissionUpdate).default([]),
  }),
};

type Events = typeof events;
type HookEvent = keyof Events;
export type HookInput = { [E in HookEvent]: z.infer<Events[E]> }[HookEvent];
export type StopFailureInput = z.infer<Events['StopFailure']>;
export type NotificationInput = z.infer<Events['Notification']>;
export type PermissionRequestInput = z.infer<Events['PermissionRequest']>;
export type PermissionUpdate = z.infer<typeof permissionUpdate>;

const named = z.object({ hook_event_name: z.string() });

/** Undefined for an event that we do not use. */
export function parseHookInput(json: unknown): HookInput | undefined {
  const name = named.safeParse(json);
  if (!name.success) throw new ThreadmuxError('bad_usage', 'Reading a hook input: it has no event name.');
  const event = name.data.hook_event_name;
  if (!isKnown(event)) return undefined;
  const parsed = events[event].safeParse(json);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  // No values in the message: they may contain a user's text.
  const where = first === undefined ? 'it' : `"${first.path.join('.')}"`;
  throw new ThreadmuxError('bad_usage', `Reading the input of ${event}: ${where} is not as expected.`, {
    hint: 'Claude Code may be newer than this threadmux: update threadmux.',
  });
}

function isKnown(event: string): event is HookEvent {
  return Object.hasOwn(events, event);
}
