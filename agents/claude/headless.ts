// Claude Code without a terminal: `claude -p` with JSON in both directions. Our hook asks for permissions in the thread.

import * as z from 'zod';
import { parsedForeignJson } from '../../core/json.ts';
import type { HeadlessEvent, HeadlessRunner } from '../headless.ts';
import { headlessLabel } from '../tool-label.ts';

const STREAM = [
  ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  // Prompts on stdin, and permissions requested instead of denied: our hook runs next to the request and answers it.
  ...['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
];

export const headlessClaude: HeadlessRunner = {
  asks: true,
  // How it is configured and paid for is up to the user.
  variables: ['DISABLE_*', 'AWS_*', 'GOOGLE_*', 'VERTEX_*', 'CLOUD_ML_REGION'],
  argv: ({ command, hookSettings, skipPermissions, session }) => [
    ...[...command, ...STREAM],
    ...(hookSettings === undefined ? [] : ['--settings', hookSettings]),
    ...(skipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...(session === undefined ? [] : ['--resume', session]),
  ],
  // It treats a leading "/" as a command, also on stdin. A space before it makes it text.
  input: (text, isCommand) => promptLine(text.startsWith('/') && !isCommand ? ` ${text}` : text),
  keepsInput: true,
  reader: () => ({ line: parseStreamLine }),
  denial: denialLine,
  isLost: (failure) => /No conversation found with session ID/.test(failure),
};

// Parses the output of a headless Claude Code (`--output-format stream-json`), one line at a time. Lines that are not JSON or
// have an unknown form are ignored, so that a newer Claude Code or output of a shell breaks nothing.

const number = z.number().catch(0);
const text = z.string().catch('');
const block = z.looseObject({ type: z.string() });
const isMain = z.null().optional();

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('system'), subtype: z.string(), session_id: text }),
  z.object({
    type: z.literal('stream_event'),
    parent_tool_use_id: isMain,
    event: z.object({
      type: z.string(),
      delta: z.looseObject({ type: z.string(), text: z.string().optional() }).optional().catch(undefined),
    }),
  }),
  z.object({
    type: z.enum(['assistant', 'user']),
    parent_tool_use_id: isMain,
    message: z.object({ content: z.array(block) }),
    error: z.unknown().optional(),
  }),
  z.object({
    type: z.literal('control_request'),
    request_id: z.string().max(200),
    request: z.object({ subtype: z.literal('can_use_tool'), tool_name: text }),
  }),
  z.object({ type: z.literal('control_cancel_request'), request_id: z.string().max(200) }),
  z.object({
    type: z.literal('result'),
    num_turns: number,
    duration_ms: number,
    total_cost_usd: number,
    model_usage_since_last_result: z
      .record(z.string(), z.object({ costUSD: z.number() }))
      .optional()
      .catch(undefined),
    is_error: z.boolean().catch(false),
    result: text,
    errors: z.array(z.string()).catch([]),
  }),
]);
type Line = z.output<typeof lineSchema>;

export function parseStreamLine(line: string): readonly HeadlessEvent[] {
  if (!line.startsWith('{')) return [];
  const read = lineSchema.safeParse(parsedForeignJson(line));
  return read.success ? eventsOf(read.data) : []; // an incomplete line, or output of another program
}

function eventsOf(line: Line): readonly HeadlessEvent[] {
  switch (line.type) {
    case 'system':
      return line.subtype === 'init' && line.session_id !== '' ? [{ kind: 'init', sessionId: line.session_id }] : [];
    case 'stream_event':
      return streamed(line.event);
    case 'assistant':
      // An API error looks like a text of Claude; it is reported with the result.
      return (line.error ?? undefined) === undefined ? line.message.content.flatMap(said) : [];
    case 'user':
      return line.message.content.flatMap(failed);
    case 'control_request':
      return [{ kind: 'asks', requestId: line.request_id }];
    case 'control_cancel_request':
      return [{ kind: 'answered', requestId: line.request_id }];
    case 'result':
      return [
        {
          kind: 'result',
          turns: line.num_turns,
          durationMs: line.duration_ms,
          costUsd: line.total_cost_usd,
          ownCostUsd: costOf(line.model_usage_since_last_result),
          isError: line.is_error,
          text: line.result || line.errors.join('\n'),
        },
      ];
  }
}

function costOf(usage: Readonly<Record<string, { costUSD: number }>> | undefined) {
  return usage && Object.values(usage).reduce((sum, { costUSD }) => sum + costUSD, 0);
}

function streamed(event: Extract<Line, { type: 'stream_event' }>['event']): readonly HeadlessEvent[] {
  if (event.type === 'message_start') return [{ kind: 'begin' }];
  const { type, text = '' } = event.delta ?? {};
  return type === 'text_delta' && text !== '' ? [{ kind: 'delta', text }] : [];
}

type Block = Readonly<z.output<typeof block>>;

function said(part: Block): readonly HeadlessEvent[] {
  if (part.type === 'text' && typeof part.text === 'string') return [{ kind: 'text', text: part.text }];
  if (part.type !== 'tool_use' || typeof part.name !== 'string') return [];
  return [{ kind: 'tool', label: headlessLabel(part.name, part.input) }];
}

function failed(part: Block): readonly HeadlessEvent[] {
  if (part.type !== 'tool_result' || part.is_error !== true) return [];
  return [{ kind: 'tool failed', text: textOf(part.content) }];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((one: { text?: unknown } | null) => (typeof one?.text === 'string' ? one.text : '')).join('');
}

/** A prompt on stdin, with `--input-format stream-json`. */
export function promptLine(text: string): string {
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`;
}

/** Denies a permission that nobody can be asked for. */
export function denialLine(requestId: string, message: string): string {
  const response = { subtype: 'success', request_id: requestId, response: { behavior: 'deny', message } };
  return `${JSON.stringify({ type: 'control_response', response })}\n`;
}
