// Shows the user what happened to a message: one reaction, and one notice if needed.

import type { Log } from '../core/log.ts';
import { button, editMessage, keyButtons, react, row, unreact } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';
import { type Notices, screenBlock } from '../threads/notices.ts';
import { type DeliveryRecord, NO_NOTICE } from '../threads/registry.ts';
import type { AttemptOutcome } from './delivery-attempt.ts';
import type { AcceptedMessage } from './inbox.ts';
import type { SeenScreen } from './seen-screen.ts';

export interface Outcomes {
  waiting(message: AcceptedMessage, because: string, screen: SeenScreen | undefined): Promise<void>;
  typed(message: AcceptedMessage): Promise<void>;
  /** The host went away after it was typed. */
  unreachable(message: AcceptedMessage, because: string): Promise<void>;
  submitted(message: AcceptedMessage): Promise<void>;
  /** Resolves with the id of the notice, if one was posted. */
  ended(message: AcceptedMessage, outcome: Exclude<AttemptOutcome, { kind: 'typed' }>): Promise<string | undefined>;
  /** The receipt came after "not confirmed" was posted. */
  corrected(channelId: string, delivery: Pick<DeliveryRecord, 'message' | 'notice'>): Promise<void>;
  /** A prompt is open, and the message may not be an answer to it. */
  unclear(message: AcceptedMessage): Promise<void>;
  /** Never rejects: a notice that cannot be posted must not stop the message. */
  say: Notices;
}

const UNCLEAR =
  '⚠️ Not used as an answer, because it may not be meant for the open prompt. Tap a button under the prompt, or reply to its message.';

const CHECK = 'Check the screen before you send it again.';

export function createOutcomes(parts: {
  readonly rest: Rest;
  readonly say: Notices;
  readonly marks: StatusReactions;
  readonly log: Log;
}): Outcomes {
  const { marks, log } = parts;
  const warn = (error: Error) => {
    log.warn('saying something', { because: error.message });
    return undefined;
  };
  const say: Notices = (channelId, about, draft) => parts.say(channelId, about, draft).catch(warn);

  return {
    say,
    async waiting(message, because, screen) {
      await marks.set(message.channelId, message.id, 'waiting');
      await say(message.channelId, [message.id, 'waits', because], {
        content: `📨 Your message waits. ${because}${screen === undefined ? '' : `\n${screenBlock(screen.text)}`}`,
        ...(screen === undefined ? {} : { components: [keyButtons(screen.print)] }),
        replyTo: message.id,
      });
    },
    typed: (message) => marks.set(message.channelId, message.id, 'typed'),
    async unreachable(message, because) {
      await say(message.channelId, [message.id, 'unreachable'], {
        content: `🔌 Typed, but not confirmed yet, because the pane cannot be read now. ${because}`,
        replyTo: message.id,
        silent: true,
      });
    },
    submitted: (message) => marks.set(message.channelId, message.id, 'submitted'),
    async ended(message, outcome) {
      if (outcome.kind === 'ran') {
        await marks.set(message.channelId, message.id, 'submitted');
        if (outcome.output !== undefined)
          await say(message.channelId, [message.id, 'ran'], {
            content: screenBlock(outcome.output),
          });
        return undefined;
      }
      log.info(`message ${outcome.kind}`, { message: message.id, because: outcome.because });
      await marks.set(message.channelId, message.id, 'failed');
      const screen = outcome.screen === undefined ? '' : `\n${screenBlock(outcome.screen.text)}`;
      const words =
        outcome.kind === 'failed'
          ? `⚠️ Not delivered. ${outcome.because}`
          : ['⚠️ Typed, but not confirmed.', outcome.because, CHECK].filter(Boolean).join(' ');
      return say(message.channelId, [message.id, outcome.kind, outcome.because], {
        content: `${words}${screen}`,
        components: [
          // Ask first if the message may have been submitted.
          row(button('Retry', `retry${outcome.kind === 'failed' ? '' : '-asks'}:${message.id}`, 'primary')),
          ...(outcome.screen === undefined ? [] : [keyButtons(outcome.screen.print)]),
        ],
        replyTo: message.id,
      });
    },
    async corrected(channelId, { message, notice }) {
      await marks.correct(channelId, message);
      if (notice === NO_NOTICE) return;
      const after = { content: '✅ Submitted. The confirmation was late.', components: [] };
      await editMessage(parts.rest, channelId, notice, after).catch(warn);
    },
    async unclear(message) {
      await marks.set(message.channelId, message.id, 'failed');
      await say(message.channelId, [message.id, 'unclear'], {
        content: UNCLEAR,
        replyTo: message.id,
      });
    },
  };
}

// Status reactions: at most one per message.

export const REACTIONS = { waiting: '📨', typed: '👀', submitted: '✅', failed: '⚠️' } as const;
type StatusReaction = keyof typeof REACTIONS;

export interface StatusReactions {
  set(channelId: string, messageId: string, mark: StatusReaction): Promise<void>;
  /** Replaces ⚠️ when a late receipt arrives. */
  correct(channelId: string, messageId: string): Promise<void>;
  /** Reactions that an earlier attempt or process may have left; the next one replaces them. */
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
      // A reaction that cannot be set must not hold up the message.
      // The thread is archived if the session was closed a moment ago.
      await unarchiveAndRetry(rest, channelId, change, { archiveAgain: true }).catch((error: Error) =>
        log.info('marking a message', { mark, because: error.message }),
      );
    },
  };
  return marks;
}
