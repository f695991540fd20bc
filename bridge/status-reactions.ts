// Status reactions: at most one per message. A reaction that is replaced before it could be set is skipped, because
// Discord allows only a few changes per second.

import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Log } from '../core/log.ts';
import { react, unreact } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';

export const REACTIONS = { waiting: '📨', typed: '👀', submitted: '✅', failed: '⚠️' } as const;
type StatusReaction = keyof typeof REACTIONS;

export interface StatusReactions {
  /** Resolves when it is set, or a newer one. Never rejects: a reaction that cannot be set must not hold up the message. */
  set(channelId: string, messageId: string, mark: StatusReaction): Promise<void>;
  /** Replaces ⚠️ when a late receipt arrives. */
  correct(channelId: string, messageId: string): Promise<void>;
  /** Reactions that an earlier attempt or process may have left; the next one replaces them. */
  assume(messageId: string, marks: readonly StatusReaction[]): void;
  /** Resolves when everything that was set so far in this channel is shown. */
  settled(channelId: string): Promise<void>;
}

export function createStatusReactions(rest: Rest, log: Log): StatusReactions {
  const inTurn = createKeyedQueue();
  const shown = new Map<string, readonly StatusReaction[]>();
  const wanted = new Map<string, StatusReaction>();

  async function apply(channelId: string, messageId: string): Promise<void> {
    const mark = wanted.get(messageId);
    if (mark === undefined) return; // it was set for an earlier request
    wanted.delete(messageId);
    const before = shown.get(messageId) ?? [];
    if (before.length === 1 && before[0] === mark) return;
    if (mark === 'submitted' || mark === 'failed') shown.delete(messageId);
    else shown.set(messageId, [mark]);
    const change = async () => {
      const changes = await Promise.allSettled([
        react(rest, channelId, messageId, REACTIONS[mark]),
        ...before.filter((old) => old !== mark).map((old) => unreact(rest, channelId, messageId, REACTIONS[old])),
      ]);
      const refused = changes.find((one) => one.status === 'rejected');
      if (refused !== undefined) throw refused.reason;
    };
    // The thread is archived if the session was closed a moment ago.
    await unarchiveAndRetry(rest, channelId, change, { archiveAgain: true }).catch((error: Error) => {
      assume(messageId, [...before, mark]); // any of them may be left
      log.info('marking a message', { mark, because: error.message });
    });
  }

  const assume: StatusReactions['assume'] = (messageId, marks) =>
    void shown.set(messageId, [...new Set([...(shown.get(messageId) ?? []), ...marks])]);

  const set: StatusReactions['set'] = (channelId, messageId, mark) => {
    wanted.set(messageId, mark);
    return inTurn(channelId, () => apply(channelId, messageId));
  };

  return {
    set,
    assume,
    settled: (channelId) => inTurn(channelId, async () => {}),
    correct(channelId, messageId) {
      assume(messageId, ['failed']);
      return set(channelId, messageId, 'submitted');
    },
  };
}
