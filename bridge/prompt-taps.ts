// Taps on prompts, and the forms that they open.

import { parseCustomId, type Tap } from '../core/prompt-answer.ts';
import { untrustedReason } from '../core/untrusted-text.ts';
import { followUpPrivately, type Interaction, openModal, takeTap, textForm, wordsIn } from '../discord/interactions.ts';
import { editMessage } from '../discord/messages.ts';
import { KEEPS_TRYING } from '../threads/prompts/finish-prompt.ts';
import type { CommandCall, CommandContext } from './commands/command.ts';

const TITLES: Readonly<Record<string, string>> = { reason: 'Why not?', other: 'In your own words' };

const OTHER_ANSWERS =
  'The answers have changed since this message was shown, so nothing was submitted. Submit again when it shows the new ones.';

/** False if it is a button of something else. */
export async function tapPrompt(
  interaction: Interaction,
  order: CommandCall,
  context: CommandContext,
): Promise<boolean> {
  const tap = parseCustomId(interaction.data?.custom_id ?? '');
  if (tap === undefined) return false;
  if (order.thread !== undefined) await answer(interaction, order, tap, context);
  return true;
}

async function answer(
  interaction: Interaction,
  { channel, by, byId }: CommandCall,
  tap: Tap,
  { rest, prompts, log }: CommandContext,
): Promise<void> {
  if (tap.asksForText && interaction.data?.components.length === 0) {
    const form = textForm(interaction.data.custom_id ?? '', TITLES[tap.action] ?? 'Your words');
    await openModal(rest, interaction, form);
    return;
  }
  if (!(await takeTap(rest, interaction))) return;
  const values = tap.value === undefined ? (interaction.data?.values ?? []) : [tap.value];
  const text = wordsIn(interaction) ?? '';
  const given = await prompts
    .answer({
      prompt: tap.prompt,
      on: { thread: channel, message: interaction.message?.id ?? '' },
      answer: { action: tap.action, values, text },
      by: { id: byId, name: by },
      order: interaction.id,
    })
    .catch((error: Error) => error);
  if (given === 'no answer' && tap.action === 'submit') return followUpPrivately(rest, interaction, OTHER_ANSWERS);
  if (given === 'taken' || given === 'no answer') return; // the prompt shows it
  if (given === 'waits')
    return followUpPrivately(rest, interaction, `📨 ${prompts.waitsBecause(tap.prompt)} ${KEEPS_TRYING}`);
  log.info('answer for nobody', { prompt: tap.prompt, because: given instanceof Error ? given.message : given });
  if (given instanceof Error)
    return followUpPrivately(
      rest,
      interaction,
      `⚠️ Your answer was not delivered: ${untrustedReason(given)}\nThe prompt is still open. Tap again later.`,
    );
  if (given === 'undelivered')
    return followUpPrivately(rest, interaction, '⚠️ Your answer did not reach the agent. Answer in the terminal.');
  await followUpPrivately(rest, interaction, 'This prompt is already closed. Nothing was changed.');
  if (interaction.message !== undefined) await editMessage(rest, channel, interaction.message.id, { components: [] });
}
