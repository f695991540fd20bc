// What an agent reports, in the same words for all agents. A driver translates the input of its agent's hook; plugins and
// companions of ours write this form directly, and `parseAgentEvent` checks it.

import * as z from 'zod';
import { promptOptionSchema, promptQuestionSchema } from '../core/prompt.ts';

/** Ids, names and paths: some of them are kept in memory and on disk, and a hostile host could send megabytes. */
export const wordSchema = z.string().max(8_192);

const base = {
  /** The agent's own id of the conversation. */
  session: wordSchema,
  cwd: wordSchema,
  /** The path of its transcript; empty if there is none that we read. */
  transcript: wordSchema.default(''),
  /** The same for all events of one turn. */
  turn: wordSchema.optional(),
  /** Set for a subagent, not for the main agent of the session. */
  subagent: wordSchema.optional(),
};

/** The input of a tool, as it is: a copy by zod would lose the field "__proto__", which the user would then not see. */
export const toolInput = z.custom<Record<string, unknown>>(
  (input) => typeof input === 'object' && input !== null && !Array.isArray(input),
);

const question = promptQuestionSchema.extend({
  options: z.array(promptOptionSchema).max(200).readonly().default([]),
});

const events = {
  /** `source`: "resume", or "clear" and "compact" if only the conversation is new. */
  started: z.looseObject({
    ...base,
    event: z.literal('started'),
    source: wordSchema.optional(),
    model: wordSchema.optional(),
  }),
  submitted: z.looseObject({ ...base, event: z.literal('submitted'), prompt: z.string() }),
  /** A text of the agent that is complete. Posted at once, silently; the same id is posted once. */
  said: z.looseObject({ ...base, event: z.literal('said'), id: wordSchema, text: z.string() }),
  /** A tool starts. Shown as what runs now, and counted in the summary of the turn. */
  tool: z.looseObject({
    ...base,
    event: z.literal('tool'),
    name: wordSchema,
    input: toolInput.default({}),
  }),
  /** It waits for a person. `tool` and `input` use the words of core/prompt.ts: Bash {command}, Edit {file_path, …}, Write, WebFetch, or the agent's own name. */
  asked: z.looseObject({
    ...base,
    event: z.literal('asked'),
    kind: z.enum(['permission', 'question', 'plan']),
    tool: wordSchema,
    input: toolInput.default({}),
    questions: z.array(question).max(20).default([]),
    /** "Always" can be chosen; for people, what it would allow, one rule each. */
    always: z.preprocess((one) => (typeof one === 'string' ? [one] : one), z.array(z.string()).optional()),
    /** The agent's id of the prompt: it reports `resolved` with this id when somebody answers in the terminal. */
    ask: wordSchema.optional(),
  }),
  /** It waits for a person in the terminal, and does not ask through its hook. With a message, people are told what the screen shows. */
  waiting: z.looseObject({ ...base, event: z.literal('waiting'), message: z.string().optional() }),
  /** Something else that people should know. */
  notice: z.looseObject({ ...base, event: z.literal('notice'), message: z.string() }),
  /** A prompt was answered in the terminal, or is over. */
  resolved: z.looseObject({ ...base, event: z.literal('resolved'), ask: wordSchema }),
  /** The turn is over. `text`: the last text, unless it was reported by `said` before. */
  idle: z.looseObject({
    ...base,
    event: z.literal('idle'),
    text: z.string().optional(),
    id: wordSchema.optional(),
    interrupted: z.boolean().default(false),
    /** Repeated after the end: it counts only if the end of this turn was not reported. */
    late: z.boolean().optional(),
  }),
  /** `error` goes on with "Codex stopped: …", without a full stop; `details` is what the agent itself says. */
  failed: z.looseObject({
    ...base,
    event: z.literal('failed'),
    error: z.string(),
    details: z.string().optional(),
    /** The agent's own word for it. */
    code: wordSchema.optional(),
  }),
  /** It exits. With the reason "clear" it goes on with a new conversation. */
  ended: z.looseObject({ ...base, event: z.literal('ended'), reason: wordSchema.optional() }),
};

type Events = typeof events;
export type AgentEventName = keyof Events;
export type AgentEvent = { [E in AgentEventName]: z.infer<Events[E]> }[AgentEventName];
export type EventOf<E extends AgentEventName> = z.infer<Events[E]>;
export type AskedEvent = EventOf<'asked'>;

const named = z.object({ event: z.string() });

/** Undefined for an event of a newer version. Throws if a field is wrong. */
export function parseAgentEvent(json: unknown): AgentEvent | undefined {
  const { event } = named.parse(json);
  return Object.hasOwn(events, event) ? events[event as AgentEventName].parse(json) : undefined;
}
