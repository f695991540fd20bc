// Which prompt is open in a thread. The hook that waits for it posted it with buttons and takes
// them away at its end, so the thread itself tells, whichever host the hook runs on.

import { promptOfComponents } from '../core/prompt-id.ts';
import { byAge } from '../core/snowflake.ts';
import { type Message, messageSchema } from '../discord/payloads.ts';
import type { Rest } from '../discord/rest.ts';

export interface OpenPrompts {
  /** Called with every message made or changed. */
  heard(data: unknown): void;
  /** The newest prompt that still has its buttons. */
  find(threadId: string): Promise<string | undefined>;
  /** It turned out to be over. */
  forget(threadId: string, prompt: string): void;
}

/** A prompt further up has been talked past long ago. */
const LOOKED_THROUGH = 50;

export function createOpenPrompts(rest: Rest, botId: string): OpenPrompts {
  const open = new Map<string, Map<string, string>>(); // thread -> message -> prompt, oldest first

  function note(thread: Map<string, string>, message: Pick<Message, 'id' | 'components'>): void {
    const prompt = promptOfComponents(message.components);
    if (prompt === undefined) thread.delete(message.id);
    else thread.set(message.id, prompt);
  }

  /** What was posted before we listened. */
  async function read(threadId: string): Promise<Map<string, string>> {
    const raw = await rest.call('GET', `/channels/${threadId}/messages?limit=${LOOKED_THROUGH}`);
    const thread = new Map<string, string>();
    const ours = messageSchema
      .array()
      .parse(raw)
      .filter(({ author }) => author.id === botId);
    for (const message of ours.sort(byAge)) note(thread, message);
    return thread;
  }

  return {
    heard(data) {
      const message = messageSchema.safeParse(data).data;
      if (message?.author.id !== botId) return;
      const thread = open.get(message.channel_id);
      if (thread !== undefined) note(thread, message);
    },
    async find(threadId) {
      const thread = open.get(threadId) ?? (await read(threadId));
      open.set(threadId, thread);
      return [...thread.values()].at(-1);
    },
    forget(threadId, prompt) {
      const thread = open.get(threadId);
      for (const [message, one] of thread ?? []) if (one === prompt) thread?.delete(message);
    },
  };
}
