// Parses one line of Claude Code's transcript. Lines that we do not use or cannot read are ignored, because the format changes
// with every version.

import * as z from 'zod';
import { cutPrompt, cutReply } from '../../../core/cut-report.ts';
import { parsedForeignJson } from '../../../core/json.ts';
import { wordSchema } from '../../event.ts';

export type TranscriptEntry = { readonly uuid: string; readonly sidechain: boolean } & (
  | {
      readonly kind: 'said';
      readonly messageId: string;
      readonly texts: readonly string[];
      readonly tools: readonly ToolUse[];
      /** When the line was written, by the clock of its host; 0 if unknown. */
      readonly writtenAt: number;
      /** Claude continues after this: it called a tool, or the message is not complete. */
      readonly goesOn: boolean;
      /** The text is Claude Code's message about an API error. */
      readonly failed: boolean;
    }
  /** Starts a turn: a prompt of the user, or news of a background task. */
  | { readonly kind: 'prompt'; readonly promptId: string | undefined; readonly text: string }
  /** A slash command. Some start a turn, others only print something. */
  | { readonly kind: 'command'; readonly promptId: string | undefined; readonly text: string }
  | { readonly kind: 'results'; readonly promptId: string | undefined; readonly results: readonly ToolResult[] }
  /** A user line that Claude Code wrote itself. */
  | { readonly kind: 'note'; readonly promptId: string | undefined }
  /** Typed while Claude worked, and read between two tools. */
  | { readonly kind: 'steer'; readonly text: string }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'ended' }
);

interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

interface ToolResult {
  readonly toolUseId: string;
  readonly ok: boolean;
  /** What went wrong, on one line; empty if nothing did. */
  readonly failure: string;
}

const block = z.object({
  type: z.string(),
  text: z.string().optional(),
  id: wordSchema.optional(),
  name: wordSchema.optional(),
  input: z.unknown().optional(),
  tool_use_id: wordSchema.optional(),
  is_error: z.boolean().nullish(),
  content: z.unknown().optional(),
});

const line = z.object({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: wordSchema.default(''),
  isSidechain: z.boolean().default(false),
  isMeta: z.boolean().default(false),
  isCompactSummary: z.boolean().default(false),
  isApiErrorMessage: z.boolean().default(false),
  promptId: wordSchema.optional(),
  origin: z.object({ kind: z.string().optional() }).optional().catch(undefined),
  timestamp: z.string().optional().catch(undefined),
  attachment: z.object({ type: z.string(), prompt: z.string().optional() }).optional().catch(undefined),
  message: z
    .object({
      id: wordSchema.optional(),
      model: z.string().optional(),
      stop_reason: z.string().nullish(),
      content: z.union([z.string(), z.array(block)]).default([]),
    })
    .optional(),
});

type Line = z.infer<typeof line>;
type Block = z.infer<typeof block>;

export function parseTranscriptEntry(text: string): TranscriptEntry | undefined {
  const parsed = line.safeParse(parsedForeignJson(text));
  if (!parsed.success) return undefined;
  const { uuid, isSidechain: sidechain } = parsed.data;
  const content = contentOf(parsed.data);
  return content === undefined ? undefined : { uuid, sidechain, ...content };
}

type Content = TranscriptEntry extends infer E
  ? E extends TranscriptEntry
    ? Omit<E, 'uuid' | 'sidechain'>
    : never
  : never;

function contentOf(data: Line): Content | undefined {
  switch (data.type) {
    case 'assistant':
      return said(data);
    case 'user':
      return fromUser(data);
    case 'attachment':
      if (data.attachment?.type !== 'queued_command') return undefined;
      return { kind: 'steer', text: cutPrompt(data.attachment.prompt ?? '') };
    case 'system':
      if (data.subtype !== 'turn_duration') return undefined;
      return { kind: 'ended' };
    default:
      return undefined;
  }
}

function said(data: Line): Content | undefined {
  const failed = data.isApiErrorMessage;
  // Claude Code writes synthetic messages in the name of the model; they are not replies.
  if (data.message === undefined || (data.message.model === '<synthetic>' && !failed)) return undefined;
  const blocks = blocksOf(data);
  const { stop_reason: stopped } = data.message;
  return {
    kind: 'said',
    messageId: data.message.id ?? data.uuid,
    texts: blocks.flatMap(({ type, text = '' }) => (type === 'text' && text.trim() !== '' ? [cutReply(text)] : [])),
    tools: blocks.flatMap(({ type, id, name, input }) =>
      type === 'tool_use' && id !== undefined && name !== undefined ? [{ id, name, input }] : [],
    ),
    writtenAt: Date.parse(data.timestamp ?? '') || 0,
    goesOn: stopped === undefined || stopped === null || stopped === 'tool_use' || stopped === 'pause_turn',
    failed,
  };
}

function fromUser(data: Line): Content {
  const { promptId } = data;
  const blocks = blocksOf(data);
  const results = blocks.flatMap(({ type, tool_use_id: toolUseId, is_error: failed, content }) => {
    if (type !== 'tool_result' || toolUseId === undefined) return [];
    return [{ toolUseId, ok: failed !== true, failure: failed === true ? firstLine(content) : '' }];
  });
  if (results.length > 0) return { kind: 'results', promptId, results };
  const text = cutPrompt(blocks.flatMap((b) => (b.type === 'text' ? [b.text ?? ''] : [])).join('\n'));
  if (data.isMeta || data.isCompactSummary) return { kind: 'note', promptId };
  if (/^\[Request interrupted by user[^\]]*\]$/.test(text)) return { kind: 'interrupted' };
  if (data.origin?.kind !== undefined) return { kind: 'prompt', promptId, text };
  const command = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (command !== undefined) {
    const args = /<command-args>([^<]*)<\/command-args>/.exec(text)?.[1] ?? '';
    return { kind: 'command', promptId, text: `${command} ${args}`.trim() };
  }
  // Versions without `origin` mark their own lines only by a leading tag.
  return /^<(?:local-command|bash-|command-)/.test(text)
    ? { kind: 'note', promptId }
    : { kind: 'prompt', promptId, text };
}

const resultTexts = z.array(z.object({ text: z.string() }).catch({ text: '' }));

/** What the model is told when a user declines; the words of the user come after it. */
const DECLINED =
  /^(?:The user doesn't want to (?:proceed with this tool use|take this action)|Permission for this tool use was denied)/;
const WORDS = /\b(?:the|The) user said:\s*([^\n]*)/;

/** The first line of a tool's output. "Exit code 1" alone says little, so the next line is added. */
function firstLine(content: unknown): string {
  const text = typeof content === 'string' ? content : (resultTexts.safeParse(content).data?.[0]?.text ?? '');
  if (DECLINED.test(text)) {
    const words = WORDS.exec(text.slice(0, 2_000))?.[1]?.trim() ?? '';
    return words === '' ? 'declined' : `declined: ${words}`;
  }
  const lines = text
    .slice(0, 2_000)
    .replace(/<\/?tool_use_error>/g, '')
    .split('\n')
    .map((one) => one.trim())
    .filter(Boolean);
  const [first = '', second] = lines;
  return second !== undefined && /^(?:Error: )?Exit code \d{1,3}$/.test(first) ? `${first}: ${second}` : first;
}

function blocksOf({ message }: Line): readonly Block[] {
  const content = message?.content ?? [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}
