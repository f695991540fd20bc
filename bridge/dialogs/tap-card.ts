// A tap on the card of a dialog. It is acknowledged before a key is pressed; what went wrong is told to the user who tapped.

import { untrustedReason, untrustedText } from '../../core/untrusted-text.ts';
import { followUpPrivately, type Interaction, openModal, takeTap, wordsIn } from '../../discord/interactions.ts';
import type { CommandCall, CommandContext } from '../commands/command.ts';
import { cardForm, parseCardId } from './card-text.ts';

/** False if it is a button of something else. */
export async function tapCard(
  interaction: Interaction,
  { liveAt, thread, by: name }: CommandCall,
  { rest, dialogs }: CommandContext,
): Promise<boolean> {
  const { data, message } = interaction;
  const tap = parseCardId(data?.custom_id ?? '', data?.values[0]);
  if (tap === undefined) return false;
  const words = wordsIn(interaction);
  if (tap.action.do === 'write' && words === undefined) {
    await openModal(rest, interaction, cardForm(data?.custom_id ?? '', tap.action.into));
    return true;
  }
  if (!(await takeTap(rest, interaction)) || message === undefined || thread === undefined) return true;
  const by = untrustedText(name || 'you', 60);
  const said = await dialogs
    .tapped({ ...tap, words, thread: thread.id, message: message.id, by, liveAt })
    .catch((error: unknown) => `⚠️ Nothing was pressed: ${untrustedReason(error)}`);
  if (said !== undefined) await followUpPrivately(rest, interaction, said);
  return true;
}
