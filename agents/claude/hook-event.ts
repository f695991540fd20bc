// What Claude Code's hooks report, in the words that all agents share.

import * as z from 'zod';
import { ownValue } from '../../core/own-value.ts';
import type { AgentEvent, AskedEvent } from '../event.ts';
import {
  type HookInput,
  type NotificationInput,
  type PermissionRequestInput,
  type PermissionUpdate,
  parseHookInput,
  type StopFailureInput,
} from './hook-input.ts';

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

function failureOf({ error, error_details, last_assistant_message: said }: StopFailureInput) {
  return {
    event: 'failed' as const,
    error: ownValue(FAILURES, error ?? '') ?? 'the turn ended with an error',
    details: said ?? error_details,
    code: error,
  };
}

function notificationOf({ notification_type: type, message }: NotificationInput) {
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

/** `suggestions`: what "always" would change, as Claude Code wants it back. */
function askedOf({ tool_name: tool, tool_input: input, permission_suggestions: suggestions }: PermissionRequestInput) {
  const questions = tool === 'AskUserQuestion' ? (questionsSchema.safeParse(input).data?.questions ?? []) : [];
  const kind: AskedEvent['kind'] = questions.length > 0 ? 'question' : tool === 'ExitPlanMode' ? 'plan' : 'permission';
  const always = suggestions.length === 0 ? undefined : suggestions.flatMap(ruleNames);
  return { event: 'asked' as const, kind, tool, input, questions, always, suggestions };
}

const ADDS = ['addRules', 'addDirectories', 'setMode'];

/** Everything that "always" would change, because the user must see it before tapping. */
function ruleNames(update: PermissionUpdate): readonly string[] {
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
