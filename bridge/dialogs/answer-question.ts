// A text that is written while a question is open on the screen is its answer: an option that it names, or one's own words if the
// question has a field for them. Questions of hooks have prompts, which take texts themselves.

import type { AgentDialogOption } from '../../agents/screen.ts';
import { isSudden, looksLikeAnswer } from '../../core/prompt-answer.ts';
import { isNewer } from '../../core/snowflake.ts';
import type { ThreadRef } from '../../discord/threads.ts';
import { paneOnHost } from '../../threads/panes.ts';
import type { CommandContext } from '../commands/command.ts';
import { type AcceptedMessage, isFresh } from '../inbox.ts';
import type { CardAction } from './card-text.ts';
import { seeDialog } from './choose-option.ts';
import { NOTHING_DONE } from './closed-card-text.ts';

/** True if the message is finished. Otherwise nothing was written, and it waits until the dialog is answered. */
export async function answerQuestion(
  message: AcceptedMessage,
  { id: thread }: ThreadRef,
  { threads, hosts, prompts, dialogs, inbox, outcomes }: CommandContext,
): Promise<boolean> {
  const record = threads.registry.get(thread);
  const card = record?.dialog;
  const { text, attachments, liveAt } = message;
  if (card?.which !== 'question' || record === undefined || card.answer !== undefined) return false;
  if (text.trim() === '' || attachments.length > 0 || prompts.inThread(thread).length > 0) return false;
  // Only what was on the screen when it was written.
  const isSeen = /^\d+$/.test(card.message) && isNewer(message.id, card.message);
  const isMeant = message.repliedTo === undefined || message.repliedTo === card.message;
  if (!isSeen || !isMeant || !isFresh(liveAt, performance.now())) return false;
  const seen = await seeDialog(paneOnHost(hosts, record));
  if (seen?.print !== card.print) return false;
  const named = seen.dialog.options.filter((option) => isNamed(option, text.trim()));
  const action = actionFor(text.trim(), seen.dialog.options);
  if (action === undefined) return false;
  const at = liveAt ?? 0;
  const mayBe = isSudden(card.message, message.id) || [prompts, dialogs].some((one) => one.hasJustEnded(thread, at));
  const isForAnother = message.repliedTo === undefined && mayBe && fitsMany(text, seen.dialog.options);
  // What the card showed a moment ago may have been another question.
  if (named.length > 1 || isForAnother || dialogs.hasJustEnded(card.message, at)) {
    await outcomes.unclear(message);
    inbox.done(message);
    return true;
  }
  // After a crash it is not typed as a message: it may be in the dialog.
  inbox.put({ ...message, answers: 'unclear' });
  const said = await dialogs.tapped({
    thread,
    message: card.message,
    print: card.print,
    action,
    words: text,
    by: message.author,
    liveAt,
  });
  if (said !== undefined && NOTHING_DONE.includes(said)) {
    inbox.put(message);
    return false;
  }
  if (said === undefined) await outcomes.submitted(message);
  else await outcomes.ended(message, { kind: 'unconfirmed', because: said.replace(/^⚠️ /u, ''), screen: undefined });
  inbox.done(message);
  return true;
}

/** An option, or a word such as "yes", which is an answer to most questions. */
function fitsMany(text: string, options: readonly AgentDialogOption[]): boolean {
  const labels = options.filter(({ field }) => field === undefined).map(({ label }) => label);
  return looksLikeAnswer(text, [{ id: '', messageId: '', question: 0, labels }]);
}

function isNamed({ label, number, field }: AgentDialogOption, text: string): boolean {
  return field === undefined && (label.toLowerCase() === text.toLowerCase() || String(number) === text);
}

/** Undefined if the question takes no text. */
function actionFor(text: string, options: readonly AgentDialogOption[]): CardAction | undefined {
  const option = options.findIndex((one) => isNamed(one, text));
  if (option >= 0) return { do: 'choose', option };
  const into = options.findIndex(({ field }) => field === 'closed' || field === 'empty');
  return into < 0 ? undefined : { do: 'write', into };
}
