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
  // thread -> message -> prompt, oldest first; a promise, so that nothing heard while it is read gets lost
  const open = new Map<string, Promise<Map<string, string>>>();

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
      void open.get(message.channel_id)?.then(
        (thread) => note(thread, message),
        () => {}, // whoever asked for it is told
      );
    },
    async find(threadId) {
      const reading = open.get(threadId) ?? read(threadId);
      open.set(threadId, reading);
      reading.catch(() => open.delete(threadId));
      return [...(await reading).values()].at(-1);
    },
    forget(threadId, prompt) {
      void open.get(threadId)?.then(
        (thread) => {
          for (const [message, one] of thread) if (one === prompt) thread.delete(message);
        },
        () => {},
      );
    },
  };
}
