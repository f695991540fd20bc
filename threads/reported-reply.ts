// The last reply of an agent that has no transcript: the last text of its last turn, as it was reported. One file per thread, so
// that commands which only read our files find it.

import { join } from 'node:path';
import * as z from 'zod';
import type { AgentEvent } from '../agents/event.ts';
import { readJson, removeBestEffort, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';

const replySchema = z.object({
  /** Empty if nothing was said in the turn yet. */
  text: z.string(),
  /** When it was reported. */
  at: z.number(),
  /** The turn is over. */
  ended: z.boolean(),
});
export type ReportedReply = Readonly<z.output<typeof replySchema>>;

const LONGEST = 1_000_000;

export function loadReportedReply(home: Home, thread: string): ReportedReply | undefined {
  return readJson(replyPath(home, thread), replySchema);
}

export function noteReportedReply(home: Home, thread: string, event: AgentEvent, at: number): void {
  const before = event.event === 'submitted' ? undefined : loadReportedReply(home, thread);
  const reply = replyAfter(before, event, at);
  if (reply !== undefined) writeBestEffort(replyPath(home, thread), reply);
}

export function removeReportedReply(home: Home, thread: string): void {
  removeBestEffort(replyPath(home, thread));
}

function replyPath(home: Home, thread: string): string {
  return join(home.folder('threads'), `${thread}.reply.json`);
}

/** Undefined if it stays as it was. */
export function replyAfter(
  before: ReportedReply | undefined,
  event: AgentEvent,
  at: number,
): ReportedReply | undefined {
  const last = before ?? { text: '', at, ended: false };
  switch (event.event) {
    case 'submitted':
      return { text: '', at, ended: false };
    case 'said':
      return isText(event.text) ? { text: cut(event.text), at, ended: false } : undefined;
    case 'idle':
      return isText(event.text) ? { text: cut(event.text), at, ended: true } : { ...last, ended: true };
    case 'failed':
    case 'ended':
      return { ...last, ended: true };
    default:
      return undefined;
  }
}

function isText(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== '';
}

function cut(text: string): string {
  return text.slice(0, LONGEST);
}
