// The receipt: Claude Code has submitted what somebody wrote in the thread, so their message gets
// its ✅. Which message it was is told by its text; which were typed at all, by the pane's own mark.

import * as z from 'zod';
import { cleanInbound, guardForPrompt } from '../core/clean.ts';
import { byAge } from '../core/snowflake.ts';
import { react } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { isPaneFormat } from '../tmux/pane.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import type { Report } from './event.ts';

const candidateSchema = z.object({
  id: z.string(),
  content: z.string(),
  author: z.object({ id: z.string(), bot: z.boolean().default(false) }),
  reactions: z
    .array(z.object({ me: z.boolean(), emoji: z.object({ name: z.string().nullish() }) }))
    .default([]),
});
export type Candidate = z.output<typeof candidateSchema>;

const SUBMITTED = '✅';
const PAGE = 100;
const PAGES = 5;

export async function confirmPrompts(prompts: readonly string[], report: Report): Promise<void> {
  const { rest, thread, desk } = report;
  const typed = await lastTyped(report);
  if (typed === undefined) return; // nothing was ever typed here for anybody
  const messages = await lately(thread.thread, typed, rest);
  for (const id of confirmed(prompts, messages, typed)) {
    await react(rest, thread.thread, id, SUBMITTED);
    desk.log.debug('receipt', { message: id });
  }
}

/** What was typed last, and further back as long as that is still open: in a burst the prompts come long after. */
async function lately(thread: string, typed: bigint, rest: Rest): Promise<readonly Candidate[]> {
  const found: Candidate[] = [];
  for (let before = typed + 1n, pages = 0; pages < PAGES; pages++) {
    const path = `/channels/${thread}/messages?limit=${PAGE}&before=${before}`;
    const page = candidateSchema
      .array()
      .parse(await rest.call('GET', path))
      .toSorted(byAge);
    found.push(...page);
    const oldest = page.find(({ author }) => !author.bot);
    if (page.length < PAGE || (oldest !== undefined && isConfirmed(oldest))) break;
    before = BigInt(page[0]?.id ?? 0);
  }
  return found;
}

/** The messages these prompts were, each prompt taking the oldest that fits and has no receipt yet. */
export function confirmed(
  prompts: readonly string[],
  messages: readonly Candidate[],
  lastTypedId: bigint,
): readonly string[] {
  const open = messages
    .filter((message) => !message.author.bot && !isConfirmed(message))
    .filter(({ id }) => BigInt(id) <= lastTypedId)
    .toSorted(byAge);
  return prompts.flatMap((prompt) => {
    const at = open.findIndex((message) => isSame(message, prompt));
    return at < 0 ? [] : open.splice(at, 1).map(({ id }) => id);
  });
}

function isConfirmed({ reactions }: Candidate): boolean {
  return reactions.some(({ me, emoji }) => me && emoji.name === SUBMITTED);
}

/** Files of the message follow its text, under a folder that has its id. */
function isSame({ id, content }: Candidate, prompt: string): boolean {
  const wrote = folded(guardForPrompt(cleanInbound(content).trim()));
  const got = folded(prompt);
  return got === wrote || (got.startsWith(wrote) && got.includes(`/files/${id}/`));
}

function folded(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The pane remembers the last message that was typed into it, by any bridge. */
async function lastTyped({ desk, session }: Report): Promise<bigint | undefined> {
  const tmux = tmuxOn(desk.host, session.socket);
  const format = `#{?${isPaneFormat(session)},#{@threadmux_text},}`;
  const printed = tmux.run(['display-message', '-p', '-t', session.paneId, format]);
  const mark = (await printed.catch(() => '')).trim();
  return /^\d{1,20}$/.test(mark) ? BigInt(mark) : undefined;
}
