// The line that shows what runs now, and the line that sums up a turn. Every line is a small one. Pure.

import type { AgentTurn, TurnTool } from '../agents/turn.ts';
import type { ConfigFile } from '../core/config-schema.ts';
import { formatDuration } from '../core/duration.ts';
import { untrustedLine, untrustedText } from '../core/untrusted-text.ts';

export type ProgressLevel = ConfigFile['progress'];

export type TurnOutcome = 'done' | 'interrupted' | 'failed';

const LONGEST_LABEL = 180;
const TOOLS_SHOWN = 12;
const FAILURES_SHOWN = 5;
const LIMIT = 1_700;

/** Undefined if nothing is to be shown. Discord itself counts the time: a clock of ours would stop between two edits. */
export function progressText(
  turn: AgentTurn,
  level: ProgressLevel,
  { since, waits }: { readonly since: number; readonly waits: boolean },
): string | undefined {
  if (level === 'quiet') return undefined;
  const running = turn.tools.findLast(({ outcome }) => outcome === undefined);
  const now = running === undefined ? counted(turn.tools) : untrustedLine(running.label, LONGEST_LABEL);
  // The name of a tool alone, such as that for questions, says nothing about what it waits for.
  const what = running !== undefined && running.label === running.name ? '' : now;
  const head = waits ? ['waiting for you', what] : ['working', now, `started <t:${Math.floor(since / 1000)}:R>`];
  const tools = level === 'verbose' ? turn.tools.slice(-TOOLS_SHOWN).map(toolLine) : [];
  return fitting([...tools, `-# ${head.filter(Boolean).join(' · ')}`]);
}

/** "Bash ×3, Edit · 42 s", and a line for each tool that failed. */
export function summaryText(turn: AgentTurn | undefined, elapsedMs: number, how: TurnOutcome): string {
  const tools = turn?.tools ?? [];
  const head = [how === 'done' ? '' : how, counted(tools), formatDuration(elapsedMs)];
  const failed = tools.filter(({ outcome }) => outcome === 'error').map(toolLine);
  const shown = failed.slice(0, FAILURES_SHOWN);
  while (shown.join('\n').length > LIMIT) shown.pop();
  const more = failed.length - shown.length;
  return [`-# ${head.filter(Boolean).join(' · ')}`, ...shown, ...(more > 0 ? [`-# ✘ ${more} more`] : [])].join('\n');
}

function counted(tools: readonly TurnTool[]): string {
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const words = [...counts].map(([name, times]) => (times === 1 ? name : `${name} ×${times}`));
  return untrustedText(words.slice(0, 8).join(', '), 100);
}

function toolLine({ label, failure, outcome }: TurnTool): string {
  const mark = outcome === undefined ? '⏳' : outcome === 'ok' ? '✔' : '✘';
  const what = untrustedLine(label, LONGEST_LABEL);
  return `-# ${mark} ${what}${failure === '' ? '' : ` · ${untrustedLine(failure, LONGEST_LABEL)}`}`;
}

/** Drops the oldest tools. The last line always fits. */
function fitting(lines: readonly string[]): string {
  const kept = [...lines];
  while (kept.length > 1 && kept.join('\n').length > LIMIT) kept.shift();
  return kept.join('\n');
}
