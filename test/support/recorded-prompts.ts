// The prompts that Claude Code itself has recorded as submitted. Does not use our own transcript reader, which is tested
// with it.

import { existsSync, readFileSync } from 'node:fs';

interface Line {
  readonly type: string;
  readonly isMeta?: boolean;
  readonly isSidechain?: boolean;
  readonly attachment?: { readonly type: string; readonly prompt?: string };
  readonly message?: { readonly content: string | readonly { readonly type: string; readonly text?: string }[] };
}

export function recordedPrompts(transcript: string): readonly string[] {
  if (!existsSync(transcript)) return [];
  return readFileSync(transcript, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .flatMap((line) => promptOf(JSON.parse(line)) ?? []);
}

function promptOf(line: Line): string | undefined {
  if (line.isMeta || line.isSidechain) return undefined;
  // Typed while Claude worked, and read by it between two tools.
  if (line.attachment?.type === 'queued_command') return line.attachment.prompt;
  if (line.type !== 'user' || line.message === undefined) return undefined;
  const { content } = line.message;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  if (blocks.some(({ type }) => type === 'tool_result')) return undefined;
  const text = blocks.map((block) => block.text ?? '').join('\n');
  return /^(?:\[Request interrupted|<(?:command|local-command|bash)-)/.test(text) ? undefined : text;
}
