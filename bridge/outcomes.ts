// What a person is told about their message: one mark on it, and one notice if there is something to say.

import type { Log } from '../core/log.ts';
import { button, keyButtons, row } from '../discord/buttons.ts';
import { editMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { type Notices, screenBlock } from '../threads/notices.ts';
import { type DeliveryRecord, NO_NOTICE } from '../threads/thread-record.ts';
import type { AttemptOutcome } from './attempt.ts';
import type { AcceptedMessage } from './inbox.ts';
import type { SeenScreen } from './seen-screen.ts';
import type { StatusReactions } from './status-reactions.ts';

export interface Outcomes {
  waiting(message: AcceptedMessage, because: string, screen: SeenScreen | undefined): Promise<void>;
  typed(message: AcceptedMessage): Promise<void>;
  /** The host went away after it was typed. */
  unreachable(message: AcceptedMessage, because: string): Promise<void>;
  /** `dialog`: what the command opened. */
  submitted(message: AcceptedMessage, dialog?: SeenScreen): Promise<void>;
  /** Resolves with the id of what was said, if there was something to say. */
  ended(message: AcceptedMessage, outcome: Exclude<AttemptOutcome, { kind: 'typed' }>): Promise<string | undefined>;
  /** Its receipt came after the person was told that it is not confirmed. */
  corrected(channelId: string, delivery: Pick<DeliveryRecord, 'message' | 'notice'>): Promise<void>;
  /** A prompt is open, and this may not be about it. */
  unclear(message: AcceptedMessage): Promise<void>;
  /** Never rejects: the message itself matters more than what we have to say about it. */
  say: Notices;
}

const UNCLEAR =
  '⚠️ Not taken as an answer, because it may not be about the prompt that is open now. Tap a button under the prompt, or reply to its message.';

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
        content: `🔌 Typed, but its host cannot be reached now, so it is not confirmed yet. ${because}`,
        replyTo: message.id,
        silent: true,
      });
    },
    async submitted(message, dialog) {
      await marks.set(message.channelId, message.id, 'submitted');
      if (dialog !== undefined)
        await say(message.channelId, [message.id, 'dialog'], {
          content: screenBlock(dialog.text),
          components: [keyButtons(dialog.print)],
        });
    },
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
          // What may have arrived is not sent again without a question.
          row(button('Retry', `retry${outcome.kind === 'failed' ? '' : '-asks'}:${message.id}`, 'primary')),
          ...(outcome.screen === undefined ? [] : [keyButtons(outcome.screen.print)]),
        ],
        replyTo: message.id,
      });
    },
    async corrected(channelId, { message, notice }) {
      await marks.correct(channelId, message);
      if (notice === NO_NOTICE) return;
      const after = { content: '✅ It was submitted after all.', components: [] };
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
