// What became of a message, shown on the message itself: one reaction at a time.

import type { Log } from '../core/log.ts';
import { react, unreact } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';

export const REACTIONS = { waiting: '📨', typed: '👀', submitted: '✅', failed: '⚠️' } as const;
type StatusReaction = keyof typeof REACTIONS;

export interface StatusReactions {
  set(channelId: string, messageId: string, mark: StatusReaction): Promise<void>;
  /** A receipt that came after the message was given up. */
  correct(channelId: string, messageId: string): Promise<void>;
  /** What an earlier attempt, or an earlier process, may have left on it: the next mark replaces it. */
  assume(messageId: string, marks: readonly StatusReaction[]): void;
}

export function createStatusReactions(rest: Rest, log: Log): StatusReactions {
  const shown = new Map<string, readonly StatusReaction[]>();
  const marks: StatusReactions = {
    assume: (messageId, marks) => void shown.set(messageId, marks),
    correct(channelId, messageId) {
      shown.set(messageId, ['failed']);
      return marks.set(channelId, messageId, 'submitted');
    },
    async set(channelId, messageId, mark) {
      const before = shown.get(messageId) ?? [];
      if (before.length === 1 && before[0] === mark) return;
      if (mark === 'submitted' || mark === 'failed') shown.delete(messageId);
      else shown.set(messageId, [mark]);
      const change = () =>
        Promise.all([
          react(rest, channelId, messageId, REACTIONS[mark]),
          ...before.filter((old) => old !== mark).map((old) => unreact(rest, channelId, messageId, REACTIONS[old])),
        ]);
      // A mark that cannot be set must not hold up the message.
      // The thread is archived if the session was closed a moment ago.
      await unarchiveAndRetry(rest, channelId, change, { archiveAgain: true }).catch((error: Error) =>
        log.info('marking a message', { mark, because: error.message }),
      );
    },
  };
  return marks;
}
