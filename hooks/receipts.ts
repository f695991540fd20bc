// The receipt: Claude Code has submitted what somebody wrote in the thread, so their message gets
// its ✅. Which message it was is told by its text; which were typed at all, by the pane's own mark.

import * as z from 'zod';
import { cleanInbound, guardForPrompt } from '../core/clean.ts';
import { byAge } from '../core/snowflake.ts';
import { react } from '../discord/messages.ts';
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
const LOOKED_THROUGH = 50;

export async function confirmPrompts(prompts: readonly string[], report: Report): Promise<void> {
  const { rest, thread, desk } = report;
  const typed = await lastTyped(report);
  if (typed === undefined) return; // nothing was ever typed here for anybody
  const raw = await rest.call('GET', `/channels/${thread.thread}/messages?limit=${LOOKED_THROUGH}`);
  const messages = candidateSchema.array().parse(raw);
  for (const id of confirmed(prompts, messages, typed)) {
    await react(rest, thread.thread, id, SUBMITTED);
    desk.log.debug('receipt', { message: id });
  }
}

/** The messages these prompts were, each prompt taking the oldest that fits and has no receipt yet. */
export function confirmed(
  prompts: readonly string[],
  messages: readonly Candidate[],
  lastTypedId: bigint,
): readonly string[] {
  const open = messages
    .filter(
      ({ author, reactions }) =>
        !author.bot && !reactions.some(({ me, emoji }) => me && emoji.name === SUBMITTED),
    )
    .filter(({ id }) => BigInt(id) <= lastTypedId)
    .toSorted(byAge);
  return prompts.flatMap((prompt) => {
    const at = open.findIndex((message) => isSame(message, prompt));
    return at < 0 ? [] : open.splice(at, 1).map(({ id }) => id);
  });
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
  const format = ['display-message', '-p', '-t', session.paneId, '#{@threadmux_text}'] as const;
  const mark = (await tmux.run(format).catch(() => '')).trim();
  return /^\d{1,20}$/.test(mark) ? BigInt(mark) : undefined;
}
