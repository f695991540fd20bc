// The text of a progress message while a turn runs, and its one-line summary afterwards. Pure.

import type { TranscriptTool, TranscriptTurn } from '../agents/claude/transcript/transcript.ts';
import type { ConfigFile } from '../core/config-schema.ts';
import { formatDuration } from '../core/duration.ts';
import { untrustedText } from '../core/untrusted-text.ts';

export type ProgressLevel = ConfigFile['progress'];

const LONGEST_TEXT = 600;
const LONGEST_LABEL = 200;
const LINES_SHOWN = 12;
const LIMIT = 1_900;

/** Undefined while there is nothing to show. */
export function progressText(turn: TranscriptTurn, level: ProgressLevel, elapsedMs: number): string | undefined {
  if (level === 'quiet') return undefined;
  const said = turn.messages.flatMap(({ texts }) => texts.map(({ text }) => text));
  const tools = level === 'verbose' ? turn.tools.slice(-LINES_SHOWN) : turn.tools.slice(-1);
  const lines = [
    shortened(said.at(-1) ?? '', LONGEST_TEXT),
    ...tools.map((tool) => `${mark(tool)} ${untrustedText(tool.label, LONGEST_LABEL)}`),
    `-# working · ${counted(turn.tools)}${formatDuration(elapsedMs)}`,
  ];
  // Drop the oldest tools: the last text, the running tool and the small line always fit.
  while (lines.join('\n').length > LIMIT && lines.length > 3) lines.splice(1, 1);
  return lines.filter(Boolean).join('\n').slice(0, LIMIT);
}

/** "Bash ×3, Edit · 42 s": replaces the progress message when the reply has arrived. */
export function summaryText(
  turn: TranscriptTurn | undefined,
  elapsedMs: number,
  how: 'done' | 'interrupted' | 'failed',
): string {
  const word = { done: '', interrupted: 'interrupted · ', failed: 'failed · ' }[how];
  return `-# ${word}${counted(turn?.tools ?? [])}${formatDuration(elapsedMs)}`;
}

function counted(tools: readonly TranscriptTool[]): string {
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const words = [...counts].map(([name, times]) => (times === 1 ? name : `${name} ×${times}`));
  return words.length === 0 ? '' : `${untrustedText(words.slice(0, 8).join(', '))} · `;
}

function mark(tool: TranscriptTool): string {
  if (tool.outcome === undefined) return '⏳';
  return tool.outcome === 'ok' ? '✔' : '✘';
}

function shortened(text: string, longest: number): string {
  const points = [...text];
  return points.length <= longest ? text : `${points.slice(0, longest - 1).join('')}…`;
}
