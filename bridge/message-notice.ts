// The notice about a message: at most one, edited when things change, deleted when the message is delivered. Its id is
// stored with the message in the inbox, so that neither a restart nor a crash leaves a second one behind.

import { createKeyedQueue } from '../core/keyed-queue.ts';
import { button, deleteMessage, editIfThere, keyButtons, type MessageDraft, row } from '../discord/messages.ts';
import { messageSchema } from '../discord/payloads.ts';
import { unarchiveAndRetry } from '../discord/threads.ts';
import { screenExcerpt } from '../threads/notices.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AttemptOutcome } from './delivery-attempt.ts';
import type { AcceptedMessage } from './inbox.ts';

export interface MessageNotices {
  /** Posts the notice or edits it. `about` is one word for what it says. Resolves with its id; undefined if that failed. */
  show(message: AcceptedMessage, about: string, draft: MessageDraft): Promise<string | undefined>;
  /** Resolves when there is no notice about this message. */
  remove(message: AcceptedMessage): Promise<void>;
}

const LOOKED_THROUGH = 100;

/** Nothing here rejects: a notice that cannot be posted must not stop the message. */
export function createMessageNotices(
  parts: Pick<ServerParts, 'rest' | 'botId' | 'postNotice' | 'inbox' | 'log'>,
): MessageNotices {
  const { rest, inbox, log } = parts;
  const inTurn = createKeyedQueue();
  const warn = (error: Error) => {
    log.warn('a notice about a message', { because: error.message });
    return undefined;
  };

  async function noticeOf({ id, channelId }: AcceptedMessage): Promise<string | undefined> {
    const known = inbox.noticeOf(id);
    if (known !== '') return known;
    // An earlier process may have posted one and ended before it could store the id.
    const raw = await rest.call('GET', `/channels/${channelId}/messages?after=${id}&limit=${LOOKED_THROUGH}`);
    const ours = messageSchema
      .array()
      .parse(raw)
      .find((one) => one.author.id === parts.botId && one.message_reference?.message_id === id);
    inbox.setNotice(id, ours?.id);
    return ours?.id;
  }

  async function show(message: AcceptedMessage, about: string, draft: MessageDraft): Promise<string | undefined> {
    const { id, channelId } = message;
    const shown = await noticeOf(message);
    if (shown !== undefined && (await edited(channelId, shown, draft))) return shown;
    inbox.setNotice(id, '');
    const subject = [id, message.deliveryId ?? id, about];
    const posted = await parts.postNotice(channelId, subject, { ...draft, replyTo: id });
    inbox.setNotice(id, posted);
    return posted;
  }

  /** False if a user deleted it. */
  function edited(channelId: string, id: string, draft: MessageDraft): Promise<boolean> {
    const after = { components: [], files: [], ...draft };
    return unarchiveAndRetry(rest, channelId, () => editIfThere(rest, channelId, id, after));
  }

  async function remove(message: AcceptedMessage): Promise<void> {
    const { id, channelId } = message;
    const shown = await noticeOf(message);
    if (shown === undefined) return;
    const gone = () => deleteMessage(rest, channelId, shown);
    await unarchiveAndRetry(rest, channelId, gone, { archiveAgain: true });
    inbox.setNotice(id, undefined);
  }

  return {
    show: (message, about, draft) => inTurn(message.id, () => show(message, about, draft)).catch(warn),
    remove: (message) => inTurn(message.id, () => remove(message)).catch(warn),
  };
}

export function waitingNotice(because: string, screen: string | undefined): MessageDraft {
  return {
    content: `📨 Your message waits. ${because}${excerptOf(screen)}`,
    // Only "Screen": keys are pressed under the whole screen, never under a part of it.
    components: screen === undefined ? [] : [keyButtons()],
  };
}

export function unreachableNotice(because: string): MessageDraft {
  return { content: `🔌 Typed, but not confirmed yet, because the pane cannot be read now. ${because}`, silent: true };
}

export function failedNotice(
  { id }: AcceptedMessage,
  { kind, because, screen }: Extract<AttemptOutcome, { because: string }>,
): MessageDraft {
  const isTyped = kind === 'unconfirmed';
  const words = isTyped
    ? ['⚠️ Typed, but not confirmed.', because, 'Check the screen before you send it again.'].filter(Boolean).join(' ')
    : `⚠️ Not delivered. ${because}`;
  // Ask first if the message may have been submitted.
  const retry = button('Retry', `${isTyped ? 'retry-asks' : 'retry'}:${id}`, 'primary');
  return {
    content: `${words}${excerptOf(screen)}`,
    components: [row(retry), ...(screen === undefined ? [] : [keyButtons()])],
  };
}

function excerptOf(screen: string | undefined): string {
  return screen === undefined ? '' : `\n${screenExcerpt(screen)}`;
}
