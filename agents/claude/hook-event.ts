// What Claude Code's hooks report, in the words that all agents share, and what it reads from the stdout of our permission hook.

import * as z from 'zod';
import { ThreadmuxError } from '../../core/errors.ts';
import { ownValue } from '../../core/own-value.ts';
import { type PromptDecision, promptQuestionSchema } from '../../core/prompt.ts';
import { type AgentEvent, type AskedEvent, toolInput, wordSchema } from '../event.ts';

/** Undefined for an event that we do not use. */
export function readHookEvent(json: unknown): AgentEvent | undefined {
  const input = parseHookInput(json);
  return input && eventOf(input);
}

function eventOf(input: HookInput): AgentEvent {
  const base = baseOf(input);
  switch (input.hook_event_name) {
    case 'Stop':
      return { ...base, event: 'idle', text: input.last_assistant_message, interrupted: false };
    case 'StopFailure':
      return { ...base, ...failureOf(input) };
    case 'Notification':
      return { ...base, ...notificationOf(input) };
    case 'SessionStart':
      return { ...base, event: 'started', source: input.source, model: input.model };
    case 'SessionEnd':
      return { ...base, event: 'ended', reason: input.reason };
    case 'UserPromptSubmit':
      return { ...base, event: 'submitted', prompt: input.prompt };
    // Installed only for questions and plans: it is about to ask a person.
    case 'PreToolUse':
      return { ...base, event: 'waiting' };
    case 'PermissionRequest':
      return { ...base, ...askedOf(input) };
  }
}

function baseOf({ session_id: session, cwd, transcript_path: transcript, prompt_id, agent_id }: HookInput) {
  return { session, cwd, transcript, turn: prompt_id, subagent: agent_id };
}

const FAILURES: Readonly<Record<string, string>> = {
  rate_limit: 'a usage limit was reached',
  authentication_failed: 'Claude Code is not logged in',
  billing_error: 'there is a problem with the account',
  server_error: 'the service failed',
};

function failureOf({ error, error_details, last_assistant_message: said }: z.infer<Events['StopFailure']>) {
  return {
    event: 'failed' as const,
    error: ownValue(FAILURES, error ?? '') ?? 'the turn ended with an error',
    details: said ?? error_details,
    code: error,
  };
}

function notificationOf({ notification_type: type, message }: z.infer<Events['Notification']>) {
  switch (type) {
    // It waits for a prompt. If no Stop was received, because the hook was not installed yet, the reply is in the transcript.
    case 'idle_prompt':
      return { event: 'idle' as const, interrupted: false, late: true };
    case 'permission_prompt':
      return { event: 'waiting' as const, message };
    default:
      return { event: 'notice' as const, message };
  }
}

const questionSchema = promptQuestionSchema
  .omit({ onlyOptions: true })
  .extend({ header: z.string().default('Question') });
const questionsSchema = z.object({ questions: z.array(questionSchema).min(1) });

/** `suggestions`: what "always" would change, as Claude Code wants it back. */
function askedOf({ tool_name: tool, tool_input: input, permission_suggestions: suggestions }: PermissionRequestInput) {
  const questions = tool === 'AskUserQuestion' ? (questionsSchema.safeParse(input).data?.questions ?? []) : [];
  const kind: AskedEvent['kind'] = questions.length > 0 ? 'question' : tool === 'ExitPlanMode' ? 'plan' : 'permission';
  const always = suggestions.length === 0 ? undefined : suggestions.flatMap(ruleNames);
  return { event: 'asked' as const, kind, tool, input, questions, always, suggestions };
}

const ADDS = ['addRules', 'addDirectories', 'setMode'];

/** Everything that "always" would change, because the user must see it before tapping. */
function ruleNames(update: z.infer<typeof permissionUpdate>): readonly string[] {
  const { type, behavior = 'allow', destination, rules = [], mode, directories = [], ...others } = update;
  const what = ADDS.includes(type) && behavior === 'allow' ? '' : `${type} ${behavior} `;
  const where = `${destination === undefined ? '' : ` (${destination})`}${inFull(others)}`;
  const names = [
    ...rules.map(
      ({ toolName, ruleContent, ...more }) =>
        `${toolName}${ruleContent === undefined ? '' : `(${ruleContent})`}${inFull(more)}`,
    ),
    ...(mode === undefined ? [] : [`mode ${mode}`]),
    ...directories.map((folder) => `folder ${folder}`),
  ];
  return (names.length === 0 ? [type] : names).map((name) => `${what}${name}${where}`);
}

/** Fields that we do not know go back to Claude Code, too. */
function inFull(fields: object): string {
  return Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
}

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

// The input that Claude Code writes to a hook's stdin. Only the fields that we use are checked; unknown fields are kept, so
// that a newer Claude Code breaks nothing and a permission is answered with its complete input.

const base = {
  session_id: wordSchema,
  transcript_path: wordSchema,
  cwd: wordSchema,
  /** The same for all events of one turn. If one turn answers several prompts, the id of the last one. */
  prompt_id: wordSchema.optional(),
  /** Set for a subagent, not for the main agent of the session. */
  agent_id: wordSchema.optional(),
};

const tool = { tool_name: wordSchema, tool_input: toolInput };

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
  PreToolUse: z.looseObject({ ...base, ...tool, hook_event_name: z.literal('PreToolUse') }),
  PermissionRequest: z.looseObject({
    ...base,
    ...tool,
    hook_event_name: z.literal('PermissionRequest'),
    permission_suggestions: z.array(permissionUpdate).default([]),
  }),
};

type Events = typeof events;
type HookEvent = keyof Events;
type HookInput = { [E in HookEvent]: z.infer<Events[E]> }[HookEvent];
export type PermissionRequestInput = z.infer<Events['PermissionRequest']>;

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
