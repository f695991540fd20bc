// The one message that says that a session has ended, and the buttons that start it again. The buttons name the thread: its
// record says which session on which host it was.

import { untrustedText } from '../core/untrusted-text.ts';
import { button, type ComponentRow, type MessageDraft, row } from '../discord/messages.ts';
import type { ThreadRecord } from './registry.ts';
import { canStartAgain, conversationOf } from './remembered-session.ts';

export const START_AGAIN = 'again';

/** `by` is the name of the user who ended it. */
export function endedNotice(record: ThreadRecord, by?: string): MessageDraft {
  const content = by === undefined ? '⏹️ The session has ended.' : `⏹️ Ended by ${untrustedText(by)}.`;
  return { content, components: startButtons(record), silent: true };
}

export function startButtons(record: ThreadRecord): readonly ComponentRow[] {
  if (!canStartAgain(record)) return [];
  const conversation = conversationOf(record);
  const again = button('Start again', `${START_AGAIN}:${record.thread}`);
  if (conversation === undefined) return [row(again)];
  return [row(again, button('Continue the conversation', `${START_AGAIN}:${record.thread}:${conversation}`))];
}
