// The input that Claude Code writes to a hook's stdin. Only the fields that we use are checked; unknown fields are kept, so
// that a newer Claude Code breaks nothing and a permission is answered with its complete input.

import { join } from 'node:path';
import * as z from 'zod';
import { ThreadmuxError } from '../../core/errors.ts';
import { parsedJson } from '../../core/json.ts';
import { untrustedText } from '../../core/untrusted-text.ts';
import { readText } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';

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

const tool = { tool_name: word, tool_input: z.record(z.string(), z.unknown()) };

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
  UserPromptSubmit: z.looseObject({
    ...base,
    hook_event_name: z.literal('UserPromptSubmit'),
    prompt: z.string(),
  }),
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
export type HookEvent = keyof Events;
export type HookInput = { [E in HookEvent]: z.infer<Events[E]> }[HookEvent];
export type StopInput = z.infer<Events['Stop']>;
export type StopFailureInput = z.infer<Events['StopFailure']>;
export type NotificationInput = z.infer<Events['Notification']>;
export type SessionStartInput = z.infer<Events['SessionStart']>;
export type SessionEndInput = z.infer<Events['SessionEnd']>;
export type UserPromptSubmitInput = z.infer<Events['UserPromptSubmit']>;
export type PreToolUseInput = z.infer<Events['PreToolUse']>;
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

// The input of a status line command, and the one-line footer made from it. Every field may be missing: the footer shows what
// is known.

const window = z.object({
  used_percentage: z.number(),
  /** Seconds since 1970. */
  resets_at: z.number().optional().catch(undefined),
});

const statusSchema = z.object({
  session_id: z.string(),
  transcript_path: z.string().optional().catch(undefined),
  cwd: z.string().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  model: z.object({ display_name: z.string() }).optional().catch(undefined),
  context_window: z.object({ used_percentage: z.number() }).optional().catch(undefined),
  cost: z.object({ total_cost_usd: z.number() }).optional().catch(undefined),
  /** Only with a subscription, and only after the first reply of the session; either window may be missing. */
  rate_limits: z
    .object({
      five_hour: window.optional().catch(undefined),
      seven_day: window.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});

export type StatusLineInput = z.infer<typeof statusSchema>;

export function parseStatusLineInput(json: unknown): StatusLineInput | undefined {
  return statusSchema.safeParse(json).data;
}

/** `clock` formats the time of a reset; Discord can show it in the reader's time zone. */
export function footer(status: StatusLineInput, clock: (seconds: number) => string = localClock): string {
  const { model, context_window: context, cost, rate_limits: limits } = status;
  const parts = [
    // Without the size of the context window: its use is shown next to it.
    model &&
      untrustedText(
        model.display_name
          .slice(0, 100)
          .replace(/\([^()]*context\)$/i, '')
          .trimEnd(),
      ),
    context && `${Math.round(context.used_percentage)}% context`,
    cost && cost.total_cost_usd > 0 && `$${cost.total_cost_usd.toFixed(2)}`,
    limits?.five_hour && limit('5h', limits.five_hour, clock),
    limits?.seven_day && limit('7d', limits.seven_day, clock),
  ];
  return parts.filter(Boolean).join(' · ');
}

function limit(name: string, used: z.infer<typeof window>, clock: (seconds: number) => string): string {
  const resets = used.resets_at === undefined ? '' : ` (resets ${clock(used.resets_at)})`;
  return `${name} ${Math.round(used.used_percentage)}%${resets}`;
}

/** The time, with the day of the week if it is not today. */
export function localClock(seconds: number, now: Date = new Date(), timeZone?: string): string {
  const at = new Date(seconds * 1000);
  const zone = timeZone === undefined ? {} : { timeZone };
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'short', ...zone });
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(day.format(at) === day.format(now) ? {} : { weekday: 'short' }),
    hour: '2-digit',
    minute: '2-digit',
    ...zone,
  });
  return format.format(at).replace(',', '');
}

// The last status line input per Claude session, saved for the footer of its replies.

export function loadStatus(home: Home, claudeSession: string): unknown {
  const path = pathOf(home, claudeSession);
  return path === undefined ? undefined : parsedJson(readText(path) ?? '');
}

/** The id comes from outside, and the path must stay inside the folder. */
function pathOf(home: Home, claudeSession: string): string | undefined {
  return /^[\w-]{1,100}$/.test(claudeSession) ? join(home.folder('status'), `${claudeSession}.json`) : undefined;
}
