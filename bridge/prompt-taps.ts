// Taps on prompts, and the forms that they open.

import type { Log } from '../core/log.ts';
import { parseCustomId, type Tap } from '../core/prompt-answer.ts';
import { untrustedReason } from '../core/untrusted-text.ts';
import { followUpPrivately, type Interaction, openModal, takeTap, textForm, wordsIn } from '../discord/interactions.ts';
import { editMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { KEEPS_TRYING } from '../threads/prompts/finish-prompt.ts';
import type { Prompts } from '../threads/prompts/prompts.ts';

export interface PromptTaps {
  /** False if the tap does not belong to a prompt. */
  tapped(interaction: Interaction, thread: ThreadRef | undefined): Promise<boolean>;
}

const TITLES: Readonly<Record<string, string>> = { reason: 'Why not?', other: 'In your own words' };

export function createPromptTaps({
  rest,
  prompts,
  log,
}: {
  readonly rest: Rest;
  readonly prompts: Prompts;
  readonly log: Log;
}): PromptTaps {
  async function onTap(interaction: Interaction, thread: ThreadRef, tap: Tap): Promise<void> {
    if (tap.asksForText && interaction.data?.components.length === 0) {
      await openModal(
        rest,
        interaction,
        textForm(interaction.data.custom_id ?? '', TITLES[tap.action] ?? 'Your words'),
      );
      return;
    }
    if (!(await takeTap(rest, interaction))) return;
    const user = interaction.member?.user ?? interaction.user;
    const values = tap.value === undefined ? (interaction.data?.values ?? []) : [tap.value];
    const text = wordsIn(interaction) ?? '';
    const given = await prompts
      .answer({
        prompt: tap.prompt,
        on: { thread: interaction.channel_id ?? '', message: interaction.message?.id ?? '' },
        answer: { action: tap.action, values, text },
        by: { id: user?.id ?? '', name: user?.username ?? '' },
        order: interaction.id,
      })
      .catch((error: Error) => error);
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
    if (interaction.message !== undefined)
      await editMessage(rest, thread.id, interaction.message.id, { components: [] });
  }

  return {
    async tapped(interaction, thread) {
      const tap = parseCustomId(interaction.data?.custom_id ?? '');
      if (tap === undefined) return false;
      if (thread !== undefined) await onTap(interaction, thread, tap);
      return true;
    },
  };
}
