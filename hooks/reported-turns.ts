// The turns of agents whose reports carry their texts and tools: what was reported of each turn so far. Only in memory: after a
// restart the summary of a running turn lacks its first tools, and no text is missing, because each is posted when it is reported.

import type { EventOf } from '../agents/event.ts';
import { toolLabel } from '../agents/tool-label.ts';
import type { AgentTurn, TurnText, TurnTool } from '../agents/turn.ts';

export type ReportedTurns = ReturnType<typeof createReportedTurns>;

interface Reported {
  readonly prompts: readonly string[];
  readonly texts: readonly TurnText[];
  readonly tools: readonly TurnTool[];
  readonly version: number;
}

const NOTHING: Reported = { prompts: [], texts: [], tools: [], version: 0 };
/** The summary counts the others. */
const MOST = 2_000;
/** Characters of texts that are kept per turn. Each text was posted when it was reported; the others keep only their id. */
const MOST_TEXT = 200_000;

export function createReportedTurns() {
  const turns = new Map<string, Reported>();
  const get = (key: string) => turns.get(key) ?? NOTHING;

  function change(key: string, to: Partial<Reported>): void {
    const before = get(key);
    turns.set(key, { ...before, ...to, version: before.version + 1 });
  }

  /** Its place among the texts and tools. */
  const next = ({ texts, tools }: Reported) => texts.length + tools.length;

  /** A text or another tool follows, so the tool before it has ended; how is not reported. */
  const ended = (tools: readonly TurnTool[]) =>
    tools.map((tool) => (tool.outcome === undefined ? { ...tool, outcome: 'ok' as const } : tool));

  return {
    begin: (key: string, prompt: string) =>
      change(key, { prompts: prompt.length > MOST_TEXT ? [] : [prompt], texts: [], tools: [] }),
    said(key: string, text: TurnText): void {
      const before = get(key);
      if (before.texts.some(({ uuid }) => uuid === text.uuid) || next(before) >= MOST) return;
      const length = before.texts.reduce((sum, one) => sum + one.text.length, 0);
      const kept = { ...text, text: length + text.text.length > MOST_TEXT ? '' : text.text, at: next(before) };
      change(key, { texts: [...before.texts, kept], tools: ended(before.tools) });
    },
    tool(key: string, { name, input }: EventOf<'tool'>, id: string): void {
      const before = get(key);
      if (before.tools.some((tool) => tool.id === id) || next(before) >= MOST) return;
      const label = toolLabel(name, input);
      // Without its input: it may have megabytes, and only transcripts are searched for it.
      const tool = { id, name, label, input: {}, at: next(before), failure: '', outcome: undefined };
      change(key, { tools: [...ended(before.tools), tool] });
    },
    of(key: string): AgentTurn {
      const { prompts, texts, tools } = get(key);
      const messages = texts.map((text) => ({ id: text.uuid, texts: [text] }));
      return { promptId: undefined, prompts, messages, tools, state: 'running' };
    },
    /** Changes with each report. */
    version: (key: string) => get(key).version,
    drop: (key: string) => void turns.delete(key),
  };
}
