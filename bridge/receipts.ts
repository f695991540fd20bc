// Waits for Claude Code's own word that a message was submitted. The hooks, on whatever host, put
// ✅ on the message; the gateway tells us of it.

import * as z from 'zod';
import type { Rest } from '../discord/rest.ts';
import { MARKS } from './marks.ts';

const reactionSchema = z.object({
  user_id: z.string(),
  message_id: z.string(),
  emoji: z.object({ name: z.string().nullish() }),
});
const messageSchema = z.object({
  reactions: z
    .array(z.object({ me: z.boolean(), emoji: z.object({ name: z.string().nullish() }) }))
    .default([]),
});

export interface Receipts {
  /** Called with every MESSAGE_REACTION_ADD. */
  heard(data: unknown): void;
  /** Whether the receipt has come, within this time. */
  wait(messageId: string, ms: number): Promise<boolean>;
  /** Asks the server, for receipts that came while we were away. */
  ask(channelId: string, messageId: string): Promise<boolean>;
}

export function createReceipts(rest: Rest, botId: string): Receipts {
  const come = new Set<string>();
  const waiting = new Map<string, () => void>();
  return {
    heard(data) {
      const { user_id, message_id, emoji } = reactionSchema.parse(data);
      if (user_id !== botId || emoji.name !== MARKS.submitted) return;
      come.add(message_id);
      for (const oldest of come) {
        if (come.size <= 1_000) break;
        come.delete(oldest);
      }
      waiting.get(message_id)?.();
    },
    wait(messageId, ms) {
      if (come.has(messageId)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const end = (is: boolean) => {
          clearTimeout(timer);
          waiting.delete(messageId);
          resolve(is);
        };
        const timer = setTimeout(() => end(false), ms);
        waiting.set(messageId, () => end(true));
      });
    },
    async ask(channelId, messageId) {
      const raw = await rest.call('GET', `/channels/${channelId}/messages/${messageId}`);
      return messageSchema
        .parse(raw)
        .reactions.some(({ me, emoji }) => me && emoji.name === MARKS.submitted);
    },
  };
}
