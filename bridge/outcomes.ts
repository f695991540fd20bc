// Shows the user what happened to a message: one reaction, and one notice if needed.

import { editMessage, type MessageDraft } from '../discord/messages.ts';
import { type Notices, screenBlock } from '../threads/notices.ts';
import { type DeliveryRecord, NO_NOTICE } from '../threads/registry.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AttemptOutcome } from './delivery-attempt.ts';
import type { AcceptedMessage } from './inbox.ts';
import { failedNotice, unreachableNotice, waitingNotice } from './message-notice.ts';
import type { StatusReactions } from './status-reactions.ts';

/** Nothing here rejects: what cannot be shown must not stop the message. */
export interface Outcomes {
  /** It gets 📨 if nothing else was shown after this time. */
  expected(message: AcceptedMessage, withinMs: number): void;
  /** It cannot be typed now. Only the reaction: most such messages are typed a moment later. */
  delayed(message: AcceptedMessage): Promise<void>;
  /** The user is told why it waits. */
  waiting(message: AcceptedMessage, because: string, screen: string | undefined): Promise<void>;
  typed(message: AcceptedMessage): Promise<void>;
  /** The host went away after it was typed. */
  unreachable(message: AcceptedMessage, because: string): Promise<void>;
  submitted(message: AcceptedMessage): Promise<void>;
  /** There is nothing in it to type, or nobody wants it any more. */
  dropped(message: AcceptedMessage): Promise<void>;
  /** Resolves with the id of the notice, if one was posted. */
  ended(message: AcceptedMessage, outcome: Exclude<AttemptOutcome, { kind: 'typed' }>): Promise<string | undefined>;
  /** The receipt came after "not confirmed" was posted. */
  corrected(channelId: string, delivery: Pick<DeliveryRecord, 'message' | 'notice'>): Promise<void>;
  /** Asks what to do with it. Resolves with the id of the question; undefined if it could not be posted. */
  asked(message: AcceptedMessage, about: string, question: MessageDraft): Promise<string | undefined>;
  /** A prompt is open, and the message may not be an answer to it. */
  unclear(message: AcceptedMessage): Promise<void>;
  postNotice: Notices;
}

const UNCLEAR =
  '⚠️ Not used as an answer, because it may not be meant for the open prompt. Tap a button under the prompt, or reply to its message.';

export function createOutcomes(
  parts: Pick<ServerParts, 'rest' | 'postNotice' | 'reactions' | 'notices' | 'log'>,
): Outcomes {
  const { reactions, notices, log } = parts;
  const timers = new Map<string, NodeJS.Timeout>();
  const warn = (error: Error) => {
    log.warn('saying something', { because: error.message });
    return undefined;
  };
  const postNotice: Notices = (channelId, about, draft) => parts.postNotice(channelId, about, draft).catch(warn);

  function mark({ channelId, id }: AcceptedMessage, reaction: Parameters<StatusReactions['set']>[2]): Promise<void> {
    clearTimeout(timers.get(id));
    timers.delete(id);
    return reactions.set(channelId, id, reaction);
  }

  async function delivered(message: AcceptedMessage, reaction: 'typed' | 'submitted'): Promise<void> {
    await Promise.all([mark(message, reaction), notices.remove(message)]);
  }

  return {
    postNotice,
    expected(message, withinMs) {
      clearTimeout(timers.get(message.id));
      timers.set(message.id, setTimeout(() => void mark(message, 'waiting'), withinMs).unref());
    },
    delayed: (message) => mark(message, 'waiting'),
    async waiting(message, because, screen) {
      const draft = waitingNotice(because, screen);
      await Promise.all([mark(message, 'waiting'), notices.show(message, `waits ${because}`, draft)]);
    },
    typed: (message) => delivered(message, 'typed'),
    async unreachable(message, because) {
      await notices.show(message, 'unreachable', unreachableNotice(because));
    },
    submitted: (message) => delivered(message, 'submitted'),
    dropped: (message) => mark(message, 'failed'),
    async ended(message, outcome) {
      if (outcome.kind === 'ran') {
        await delivered(message, 'submitted');
        if (outcome.output !== undefined)
          await postNotice(message.channelId, [message.id, 'ran'], { content: screenBlock(outcome.output) });
        return undefined;
      }
      log.info(`message ${outcome.kind}`, { message: message.id, because: outcome.because });
      const [, notice] = await Promise.all([
        mark(message, 'failed'),
        notices.show(message, `${outcome.kind} ${outcome.because}`, failedNotice(message, outcome)),
      ]);
      return notice;
    },
    async corrected(channelId, { message, notice }) {
      await reactions.correct(channelId, message);
      if (notice === NO_NOTICE) return;
      const after = { content: '-# ✅ Submitted. The confirmation was late.', components: [], files: [] };
      await editMessage(parts.rest, channelId, notice, after).catch(warn);
    },
    asked: notices.show,
    async unclear(message) {
      await mark(message, 'failed');
      await postNotice(message.channelId, [message.id, 'unclear'], { content: UNCLEAR, replyTo: message.id });
    },
  };
}
